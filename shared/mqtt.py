"""The one door to paho: a client that finds its broker again and again, and keeps no message for later.

Each connection has a paho client of its own, so nothing unsent survives a connection and no number
of an old one can be taken for a new one. paho is driven through its interface for external loops by
one thread of ours, which is the only one that reads, writes, connects and waits. Long because nothing
but this file may import paho.
"""

from __future__ import annotations

import random
import select
import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final, ParamSpec

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from shared.broker import (
    BrokerSettings,
    ClientBroken,
    Connected,
    Disconnected,
    PublishRefused,
    Received,
    Sink,
    Tls,
    Version,
    VersionChoice,
    Will,
)
from shared.clock import HandClock, monotonic

_POLL_S: Final = 1.0
_GOODBYE_S: Final = 2.0
_P = ParamSpec("_P")


class MqttClient:
    """A connection kept up by a thread of its own, which reports to `sink`.

    `publish` and `ack` may be called from any thread.
    """

    def __init__(
        self,
        settings: BrokerSettings,
        subscriptions: Sequence[tuple[str, int]],
        sink: Sink,
        will: Callable[[], Will | None] = lambda: None,
        clock: HandClock = monotonic,
    ) -> None:
        """`subscriptions` are filters with their QoS, made again on each connection.

        `will` is asked by the network thread once per connection, when the broker's host has answered.
        Raises OSError for TLS files that cannot be read.
        """
        self._settings = settings
        self._subscriptions = list(subscriptions)
        self._sink = sink
        self._will = will
        self._clock = clock
        self._tls = None if settings.tls is None else _tls_context(settings.tls)
        self._chance = random.Random()  # its own: a thread that draws from the common one disturbs others
        self._stopping = threading.Event()
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._connections = 0
        self._live: _Connection | None = None
        self._thread = threading.Thread(target=self._run, name=f"mqtt-{settings.client_id}", daemon=True)

    def start(self) -> None:
        """Begin to connect; returns at once."""
        self._thread.start()

    def stop(self, timeout_s: float = 5.0) -> bool:
        """Say goodbye to the broker and end the thread, which sends what was published before.

        False when the thread is still held up after `timeout_s` (a name server that does not answer).
        """
        self._stopping.set()
        self.wake()
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        if self._thread.is_alive():
            return False
        self._wake_in.close()
        self._wake_out.close()
        return True

    def alive(self) -> bool:
        """Whether the network thread lives."""
        return self._thread.is_alive()

    def publish(self, topic: str, payload: bytes, qos: int, retain: bool) -> bool:
        """Hand a message to the connection; False, and nothing kept, when there is none."""
        live = self._live
        accepted = live is not None and live.publish(topic, payload, qos, retain)
        self.wake()
        return accepted

    def ack(self, received: Received) -> bool:
        """Acknowledge a QoS 1 message (`manual_ack` only); False when its connection is gone."""
        live = self._live
        if live is None or live.number != received.conn or not live.ack(received.mid, received.qos):
            return False
        self.wake()
        return True

    def wake(self) -> None:
        """Let the network thread look at what there is to write."""
        try:
            self._wake_in.send(b"\0")
        except OSError:
            return  # full: it is being woken already; closed: it has ended

    def _run(self) -> None:
        try:
            self._keep_connected()
        except Exception as error:  # noqa: BLE001 - a bug of ours: the owner must hear of it and end the process
            self._sink.put(ClientBroken(error))
        finally:
            self._live = None

    def _keep_connected(self) -> None:
        choice = VersionChoice(self._settings.versions)
        shortest, longest = self._settings.retry_s
        pause_s = shortest
        while not self._stopping.is_set():
            connection = _Connection(self, choice.version)
            began_s = self._clock()
            reason = connection.run()
            self._live = None
            if connection.number:
                choice.worked()
                if self._clock() - began_s >= longest:  # else two of one name would chase each other fast
                    pause_s = shortest
            elif connection.reached_host:
                choice.failed()
            self._sink.put(Disconnected(reason))
            self._stopping.wait(pause_s * self._chance.uniform(0.5, 1.0))
            pause_s = min(longest, pause_s * 2)


class _Connection:
    """One paho client from the call to the host until the connection is gone."""

    def __init__(self, owner: MqttClient, version: Version) -> None:
        self.number = 0
        self._ready = False
        self.reached_host = False
        self._owner = owner
        self._settings = settings = owner._settings
        self._version = version
        self._reasons: list[str] = []
        self._fault: Exception | None = None
        is_v5 = version is Version.V5
        self._client = client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=settings.client_id,
            protocol=MQTTProtocolVersion(version),
            clean_session=None if is_v5 else settings.clean_start,
            reconnect_on_failure=False,
            manual_ack=settings.manual_ack,
        )
        client.connect_timeout = settings.connack_s
        if settings.username is not None:
            client.username_pw_set(settings.username, settings.password)
        if owner._tls is not None:
            client.tls_set_context(owner._tls)
        client.on_socket_open = self._guarded(self._socket_opened)
        client.on_connect = self._guarded(self._connack)
        client.on_disconnect = self._guarded(self._disconnected)
        client.on_message = self._guarded(self._message)
        client.on_subscribe = self._guarded(self._subscribed)
        client.on_publish = self._guarded(self._published)
        # given any such callback, paho leaves all writing to the thread that polls, whoever publishes;
        # it can miss one, so those who publish wake that thread themselves
        client.on_socket_register_write = lambda *_: None

    def run(self) -> str:
        """Connect, work until the end, and say why it ended. Raises only what is a bug of ours."""
        try:
            self._connect()
            self.reached_host = True
            self._work()
        except OSError as error:
            self._reasons.append(str(error) or type(error).__name__)
        except Exception as error:  # noqa: BLE001 - paho choking on a broker's bytes must not end a process
            self._reasons.append(f"broker not understood: {error!r}")
        finally:
            self._close()
        if self._fault is not None:
            raise self._fault
        return self._reasons[0] if self._reasons else "connection lost"

    def publish(self, topic: str, payload: bytes, qos: int, retain: bool) -> bool:
        return self._client.publish(topic, payload, qos, retain).rc == MQTTErrorCode.MQTT_ERR_SUCCESS

    def ack(self, mid: int, qos: int) -> bool:
        return self._client.ack(mid, qos) == MQTTErrorCode.MQTT_ERR_SUCCESS

    def _connect(self) -> None:
        settings = self._settings
        if self._version is Version.V311:
            self._client.connect(settings.host, settings.port, settings.keepalive_s)
            return
        properties = _properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = settings.session_expiry_s
        if settings.receive_maximum is not None:
            properties.ReceiveMaximum = settings.receive_maximum
        self._client.connect(
            settings.host,
            settings.port,
            settings.keepalive_s,
            clean_start=settings.clean_start,
            properties=properties,
        )

    def _work(self) -> None:
        """Poll and drive paho until its socket is gone; the broker's answer and a goodbye have deadlines."""
        clock, stopping = self._owner._clock, self._owner._stopping
        end_s = clock() + self._settings.connack_s
        goodbye = False
        while (sock := self._client.socket()) is not None and self._fault is None:
            if stopping.is_set() and not goodbye:
                goodbye, end_s = True, clock() + _GOODBYE_S
                self._client.disconnect()
            waits = goodbye or not self._ready
            if waits and clock() >= end_s:
                self._reasons.append("no goodbye" if goodbye else f"no answer to MQTT {self._version.name}")
                return
            self._poll(sock, min(_POLL_S, max(0.0, end_s - clock())) if waits else _POLL_S)
            self._client.loop_misc()

    def _poll(self, sock: Any, timeout_s: float) -> None:
        poller = select.poll()  # not select(): a hub with many pages open has files beyond number 1023
        wants = select.POLLIN | (select.POLLOUT if self._client.want_write() else 0)
        poller.register(sock, wants)
        poller.register(self._owner._wake_out, select.POLLIN)
        if isinstance(sock, ssl.SSLSocket) and sock.pending():
            timeout_s = 0.0
        ready = dict(poller.poll(timeout_s * 1000))
        if self._owner._wake_out.fileno() in ready:
            self._owner._wake_out.recv(4096)
        happened = ready.get(sock.fileno(), 0)
        if happened & ~select.POLLOUT or (isinstance(sock, ssl.SSLSocket) and sock.pending()):
            self._client.loop_read()
        if self._client.want_write():
            self._client.loop_write()

    def _close(self) -> None:
        sock = self._client.socket()
        if sock is not None:
            sock.close()
        if self._owner._tls is not None:
            self._owner._tls.close_wrapped()

    def _guarded(self, callback: Callable[_P, None]) -> Callable[_P, None]:
        """The callback, with an error of ours kept for `run` instead of lost inside paho."""

        @wraps(callback)
        def guarded(*args: _P.args, **kwargs: _P.kwargs) -> None:
            try:
                callback(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - raised again by run(), on our side of paho
                self._fault = error

        return guarded

    def _socket_opened(self, client: Client, _userdata: Any, sock: Any) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        will = self._owner._will()
        if will is None:
            return
        properties = None
        if self._version is Version.V5:
            properties = _properties(PacketTypes.WILLMESSAGE)
            properties.WillDelayInterval = will.delay_s
        client.will_set(will.topic, will.payload, will.qos, will.retain, properties)

    def _connack(
        self, client: Client, _userdata: Any, _flags: ConnectFlags, code: ReasonCode, _properties: Any
    ) -> None:
        if code.is_failure:
            self._reasons.append(str(code))
            return
        client.drop_out_messages()
        self._owner._connections += 1
        self.number = self._owner._connections
        if self._owner._subscriptions:
            client.subscribe(list(self._owner._subscriptions))
        self._owner._live = self
        if not self._owner._subscriptions:
            self._report_ready()

    def _disconnected(
        self, _client: Client, _userdata: Any, _flags: DisconnectFlags, code: ReasonCode, _properties: Any
    ) -> None:
        self._owner._live = None
        self._reasons.append(str(code))

    def _message(self, _client: Client, _userdata: Any, message: MQTTMessage) -> None:
        try:
            topic = message.topic
        except UnicodeDecodeError:
            topic = "\ufffd"  # belongs to nobody, and is judged as such with the rest
        at_s = self._owner._clock()
        self._owner._sink.put(
            Received(
                topic, bytes(message.payload), message.retain, self.number, message.mid, message.qos, at_s
            )
        )

    def _subscribed(
        self, client: Client, _userdata: Any, _mid: int, codes: list[ReasonCode], _properties: Any
    ) -> None:
        refused = [code for code in codes if code.is_failure]
        if refused:
            self._reasons.append(f"subscription refused: {refused[0]}")
            client.disconnect()
        else:
            self._report_ready()

    def _report_ready(self) -> None:
        self._ready = True
        self._owner._sink.put(Connected(self.number, self._version))

    def _published(
        self, _client: Client, _userdata: Any, _mid: int, code: ReasonCode, _properties: Any
    ) -> None:
        if code.is_failure:
            self._owner._sink.put(PublishRefused(str(code)))


def _properties(packet_type: int) -> Properties:
    return Properties(packet_type)  # type: ignore[no-untyped-call]


class _TlsContext(ssl.SSLContext):
    """Remembers the socket it wrapped: paho 2.2 leaves it open when the handshake fails."""

    wrapped: ssl.SSLSocket | None = None
    certified_name: str | None = None

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        if self.certified_name is not None:
            kwargs["server_hostname"] = self.certified_name
        self.wrapped = super().wrap_socket(*args, **kwargs)
        return self.wrapped

    def close_wrapped(self) -> None:
        if self.wrapped is not None:
            self.wrapped.close()
            self.wrapped = None


def _tls_context(tls: Tls) -> _TlsContext:
    context = _TlsContext(ssl.PROTOCOL_TLS_CLIENT)  # asks for a certificate and checks its name
    context.load_verify_locations(tls.ca_file)
    context.certified_name = tls.certified_name
    if tls.cert_file is not None:
        context.load_cert_chain(tls.cert_file, tls.key_file)
    return context
