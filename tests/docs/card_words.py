"""What the judge's card says, in both languages: every state's buttons, and what the marks mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from device.debounce import Button

START, PAUSE, ASSIST, FINISH = Button.START, Button.PAUSE, Button.ASSIST, Button.FINISH


@dataclass(frozen=True, slots=True)
class State:
    """One row: a picture by its name, when it is seen, and what each button does; one not named does nothing."""

    shot: str
    title: str
    does: Mapping[Button, str]


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing that may be seen, and what to do."""

    shot: str | None
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Words:
    """A card in one language."""

    title: str
    how: str
    run: tuple[State, ...]
    escape_title: str
    escape: tuple[State, ...]
    marks_title: str
    marks: tuple[Mark, ...]
    last: str


ES: Final = Words(
    title="Tarjeta del juez",
    how="Busca lo que ves en la pantalla: a la derecha, lo que hace cada botón. «–» no hace nada y lo dice.",
    run=(
        State("ready", "Listo", {START: "empieza", ASSIST: "mantener 2 s: práctica"}),
        State("preview", "Mirar sin abrir", {START: "mantener 2 s: anula la salida"}),
        State(
            "running",
            "Corre",
            {
                START: "mantener 2 s: deshace lo último",
                PAUSE: "empieza una pausa",
                ASSIST: "empieza la ayuda",
                FINISH: "han terminado: para el reloj",
            },
        ),
        State("paused", "Pausa", {START: "sigue el reloj", PAUSE: "sigue el reloj"}),
        State(
            "pause ran out",
            "Pausa agotada",
            {
                START: "enterado",
                PAUSE: "enterado; no gasta otra",
                ASSIST: "empieza la ayuda",
                FINISH: "han terminado",
            },
        ),
        State(
            "assisting",
            "Ayuda",
            {
                START: "mantener 2 s: deshace la ayuda",
                PAUSE: "termina la ayuda y empieza una pausa",
                ASSIST: "termina la ayuda",
                FINISH: "han terminado",
            },
        ),
        State(
            "help used up",
            "Ayuda agotada",
            {
                START: "mantener 2 s: deshace la ayuda",
                PAUSE: "empieza una pausa",
                ASSIST: "enterado",
                FINISH: "han terminado",
            },
        ),
        State(
            "claimed",
            "¿Está completo?",
            {START: "mantener 2 s: no; el reloj no ha parado", FINISH: "sí: tiempo final"},
        ),
        State(
            "counting",
            "Tiempo agotado: contar",
            {
                PAUSE: "una menos",
                ASSIST: "una más; mantener: rápido",
                FINISH: "listo; otra vez = sí. Si son 0: mantener 2 s",
            },
        ),
        State("sealed", "Final", {START: "siguiente"}),
    ),
    escape_title="Escape (parejas)",
    escape=(
        State(
            "escape",
            "Escape",
            {START: "mantener 2 s: deshace lo último", ASSIST: "¿pista?", FINISH: "¿prueba resuelta?"},
        ),
        State(
            "escape: hint?",
            "Pregunta",
            {
                START: "mantener 2 s: deshace lo último",
                ASSIST: "sí; esperar o PAUSE = no",
                FINISH: "pista no: ¿prueba resuelta?",
            },
        ),
    ),
    marks_title="Qué significa lo que ves",
    marks=(
        Mark(None, "P2 · A3 10:00", "Quedan 2 pausas y 3 ayudas; de ayuda quedan 10 minutos en total."),
        Mark(
            None,
            "La rayita de abajo no se mueve",
            "Debe avanzar cada segundo. Quieta 15 s = la pantalla está congelada: no la creas y avisa. "
            "Los botones pueden seguir funcionando: pulsa igual y apunta la hora.",
        ),
        Mark(
            "not saved",
            "NO GUARDA parpadea",
            "La tarjeta de memoria falla. El reloj sigue: apunta tú también los tiempos y avisa a la organización. "
            "No desenchufes.",
        ),
        Mark(
            "after a pulled plug",
            "RELOJ, ≥ y ≤",
            "Estuvo sin corriente: el tiempo es «al menos» ese, y lo que queda, «como mucho». Sigue juzgando; "
            "la organización lo decide.",
        ),
        Mark(
            None,
            "sin red 5",
            "No hay red; 5 pulsaciones esperan. No hagas nada: todo está guardado y se envía solo.",
        ),
        Mark(
            "finish after the limit",
            "Abajo, en blanco, un motivo",
            "Esa pulsación no vale y no cambia nada. Lee el motivo; se va a los 3 segundos.",
        ),
        Mark(
            None,
            "CORRIENTE",
            "Le llega poca corriente y puede apagarse: avisa; que cambien cable o alimentador entre dos turnos.",
        ),
        Mark(
            None,
            "Cuadradito abajo a la derecha",
            "Se ha visto tu pulsación. Cuenta desde que tocaste el botón, aunque la pantalla tarde.",
        ),
        Mark(
            "disqualified",
            "DECISIÓN",
            "La organización ha decidido sobre esta prueba y ha terminado. START = siguiente.",
        ),
        Mark(
            None,
            "Pantalla oscura",
            "Descansa. Pulsar cualquier botón la enciende, y esa pulsación cuenta. Si sigue oscura, avisa.",
        ),
    ),
    last="Desenchufar no borra nada, salvo con NO GUARDA. "
    "Enchufa otra vez: vuelve sola a donde estaba, con la carrera en marcha.",
)

EN: Final = Words(
    title="Judge's card",
    how="Find what you see on the display: to its right, what each button does. “–” does nothing and says so.",
    run=(
        State("ready", "Ready", {START: "begins", ASSIST: "hold 2 s: practice"}),
        State("preview", "Look, don't open", {START: "hold 2 s: cancels the start"}),
        State(
            "running",
            "Running",
            {
                START: "hold 2 s: undoes the last act",
                PAUSE: "begins a pause",
                ASSIST: "begins help",
                FINISH: "they are done: stops the clock",
            },
        ),
        State("paused", "Pause", {START: "clock goes on", PAUSE: "clock goes on"}),
        State(
            "pause ran out",
            "Pause over",
            {
                START: "seen",
                PAUSE: "seen; takes no other pause",
                ASSIST: "begins help",
                FINISH: "they are done",
            },
        ),
        State(
            "assisting",
            "Help",
            {
                START: "hold 2 s: undoes the help",
                PAUSE: "ends the help and begins a pause",
                ASSIST: "ends the help",
                FINISH: "they are done",
            },
        ),
        State(
            "help used up",
            "Help used up",
            {
                START: "hold 2 s: undoes the help",
                PAUSE: "begins a pause",
                ASSIST: "seen",
                FINISH: "they are done",
            },
        ),
        State(
            "claimed",
            "Complete?",
            {START: "hold 2 s: no; the clock never stopped", FINISH: "yes: final time"},
        ),
        State(
            "counting",
            "Time is up: count",
            {
                PAUSE: "one less",
                ASSIST: "one more; hold: fast",
                FINISH: "done; again = yes. If it is 0: hold 2 s",
            },
        ),
        State("sealed", "Final", {START: "next"}),
    ),
    escape_title="Escape (pairs)",
    escape=(
        State(
            "escape",
            "Escape",
            {START: "hold 2 s: undoes the last act", ASSIST: "hint?", FINISH: "step solved?"},
        ),
        State(
            "escape: hint?",
            "A question",
            {
                START: "hold 2 s: undoes the last act",
                ASSIST: "yes; waiting or PAUSE = no",
                FINISH: "no hint: step solved?",
            },
        ),
    ),
    marks_title="What it means",
    marks=(
        Mark(None, "P2 · A3 10:00", "2 pauses and 3 helps are left; 10 minutes of help in all."),
        Mark(
            None,
            "The dash at the bottom stands still",
            "It must move every second. Still for 15 s = the display is frozen: do not trust it, call somebody. "
            "The buttons may work on: press all the same, and note the time.",
        ),
        Mark(
            "not saved",
            "NOT SAVED blinks",
            "The memory card fails. The clock goes on: note the times yourself too, and tell the organisers. "
            "Do not pull the plug.",
        ),
        Mark(
            "after a pulled plug",
            "CLOCK, ≥ and ≤",
            "It was without power: the time is “at least” that, and what is left “at most”. Go on judging; "
            "the organisers decide.",
        ),
        Mark(
            None,
            "offline 5",
            "No network; 5 presses wait. Do nothing: all is saved and goes out by itself.",
        ),
        Mark(
            "finish after the limit",
            "At the bottom, in white, a reason",
            "That press does not count and changes nothing. Read why; it goes away after 3 seconds.",
        ),
        Mark(
            None,
            "POWER",
            "Its supply is weak and it may go off: tell the organisers; change cable or supply between two heats.",
        ),
        Mark(
            None,
            "A small square at the bottom right",
            "Your press was seen. It counts from when you touched the button, however slow the display is.",
        ),
        Mark(
            "disqualified",
            "DECISION",
            "The organisers have decided on this run, and it is over. START = next.",
        ),
        Mark(
            None,
            "Dark display",
            "It rests. Any button lights it, and that press counts. If it stays dark, tell somebody.",
        ),
    ),
    last="Pulling the plug erases nothing, except under NOT SAVED. "
    "Plug it in again: it comes back to where it was, the run still going.",
)

CARDS: Final = {"es": ES, "en": EN}
