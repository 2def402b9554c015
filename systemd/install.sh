#!/usr/bin/env bash
# Installs, updates or removes the table timer or the hub on Raspberry Pi OS or Debian (12 or newer). See docs/install.md.
set -euo pipefail
umask 022

usage() {
	cat <<'USAGE'
sudo systemd/install.sh device|hub [--wheels DIR] [--force] [--data-partition DEVICE]
    installs the table timer or the hub, or updates it; settings and data stay
    --wheels DIR  take all Python packages from this folder: no network is needed
    --force       also while a run is on
    --data-partition DEVICE  (table) keep journals on this empty or ext4 partition; for a root that is only read
sudo systemd/install.sh device|hub --uninstall --yes
    removes program, settings, users AND ALL DATA
USAGE
}

say() { printf '%s\n' "$*"; }
die() {
	printf 'Error: %s\n' "$*" >&2
	exit 1
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
opt=/opt/puzzle-table-timer
role='' wheels='' force='' uninstall='' yes='' partition=''

read_arguments() {
	[ $# -gt 0 ] || { usage >&2; exit 2; }
	role=$1
	shift
	case $role in
	device | hub) ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	while [ $# -gt 0 ]; do
		case $1 in
		--wheels)
			[ -d "${2-}" ] || die "--wheels ${2-}: there is no such folder"
			wheels=$(cd "$2" && pwd)
			shift
			;;
		--data-partition)
			[ -b "${2-}" ] || die "--data-partition ${2-}: there is no such partition"
			partition=$2
			shift
			;;
		--force) force=1 ;;
		--uninstall) uninstall=1 ;;
		--yes) yes=1 ;;
		*) usage >&2; exit 2 ;;
		esac
		shift
	done
}

set_names() {
	if [ "$role" = device ]; then
		program=table-timer units=(table-timer.service) users=(table-timer)
	else
		program=timer-hub units=(timer-hub-broker.service timer-hub.service) users=(timer-hub timer-hub-broker)
	fi
	etc=/etc/$program
	made=$etc/made # what was not there before, for the way back
	boot=''
	for folder in /boot/firmware /boot; do
		if [ -f "$folder/config.txt" ]; then boot=$folder; break; fi
	done
	data=/var/lib/$program
	settings=$etc/hub.toml
	if [ "$role" = device ]; then settings=${boot:-$etc}/table-timer.toml; fi
	[ "$role" = device ] || [ -z "$partition" ] || die '--data-partition is for tables'
}

# The files of a role: from, to.
files() {
	case $role in
	device) cat <<'FILES' ;;
device/table-timer.service /etc/systemd/system/table-timer.service
device/table-timer.sysusers.conf /etc/sysusers.d/table-timer.conf
device/table-timer.tmpfiles.conf /etc/tmpfiles.d/table-timer.conf
device/devices.rules /etc/udev/rules.d/60-table-timer.rules
device/modules.conf /etc/modules-load.d/table-timer.conf
watchdog.conf /etc/systemd/system.conf.d/10-table-timer.conf
wifi.conf /etc/NetworkManager/conf.d/table-timer.conf
FILES
	hub) cat <<'FILES' ;;
hub/timer-hub.service /etc/systemd/system/timer-hub.service
hub/timer-hub-broker.service /etc/systemd/system/timer-hub-broker.service
hub/timer-hub.sysusers.conf /etc/sysusers.d/timer-hub.conf
hub/timer-hub.tmpfiles.conf /etc/tmpfiles.d/timer-hub.conf
hub/chrony.conf /etc/chrony/conf.d/timer-hub.conf
watchdog.conf /etc/systemd/system.conf.d/10-timer-hub.conf
wifi.conf /etc/NetworkManager/conf.d/timer-hub.conf
FILES
	esac
}

# Where the root is laid over in memory, everything would be gone at the next start.
refuse_on_an_overlay() {
	! grep -q 'overlayroot=tmpfs\|boot=overlay' /proc/cmdline || die "the root of this machine is only read. First:
sudo raspi-config nonint disable_overlayfs && sudo reboot"
}

running() { [ -d /run/systemd/system ]; } # false where an image is made

# Program and hub say in their status line whether a run is on; who does not run, times nothing.
refuse_during_a_run() {
	running || return 0
	local status
	status=$(systemctl show --property=StatusText --value "$program.service" 2>/dev/null || true)
	case $status in
	*"run is on" | *"runs are on")
		[ -n "$force" ] || die "$status: wait until it is over, or say --force"
		;;
	esac
}

need_packages() {
	local missing=() package
	for package in "$@"; do
		dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing ${missing[*]} ..."
	DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null && return 0
	apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
}

install_packages() {
	local needed=(python3 python3-venv)
	[ "$role" = hub ] && needed+=(mosquitto)
	need_packages "${needed[@]}" || die "these are needed: sudo apt install ${needed[*]}"
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die 'Python 3.11 or newer is needed'
	need_packages chrony || say 'chrony could not be installed: hub and tables will not share their time of day'
	if [ "$role" = device ] && apt-cache show python3-lgpio >/dev/null 2>&1; then
		need_packages python3-lgpio || true # else it is built below
	fi
}

# A new version lies beside the old one until it is known to start.
build_venv() {
	local source=("$here"/../pyproject.toml) find=()
	install -d "$opt"
	new=$(mktemp -d "$opt/$role.XXXXXX")
	chmod 755 "$new"
	trap 'rm -rf "$new"' EXIT
	if [ "$role" = device ]; then python3 -m venv --system-site-packages "$new"; else python3 -m venv "$new"; fi
	if [ -z "$wheels" ] && [ -d "$here/wheels" ]; then wheels=$here/wheels; fi
	if [ -n "$wheels" ]; then
		find=(--no-index --find-links "$wheels")
		source=("$wheels"/puzzle_table_timer-*.whl)
		[ -f "${source[0]}" ] || die "$wheels has no puzzle_table_timer-*.whl"
		source=("${source[@]: -1}")
	else
		[ -f "${source[0]}" ] || die 'this is no checkout: name a folder with --wheels'
		source=("$(cd "$here/.." && pwd)")
	fi
	pip=("$new/bin/python" -m pip --quiet --disable-pip-version-check install --no-cache-dir "${find[@]}")
	get_packages "${source[0]}" || die 'the Python packages could not be installed; see above. Nothing was changed.'
	if [ "$role" = device ]; then install_lgpio; fi
	"$new/bin/$program" --version >/dev/null || die "$program does not start. Nothing was changed."
}

# From the network only files that were there when `make lock` was typed; a folder was filled with them by docs/install.md.
get_packages() {
	local isolated=(--no-build-isolation) # else what a package is built with would be fetched unseen
	if [ -n "$wheels" ]; then
		"${pip[@]}" "$1[$role]"
		return
	fi
	if [ "$(dpkg --print-architecture)" = armhf ]; then isolated=(); fi # much has to be built there
	"${pip[@]}" --require-hashes -r "$1/lock-build.txt" &&
		"${pip[@]}" --require-hashes --use-pep517 "${isolated[@]}" -r "$1/lock-$role.txt" &&
		"${pip[@]}" --no-deps --no-build-isolation "$1"
}

install_lgpio() {
	local works='import lgpio; lgpio.gpio_claim_alert' lock=('lgpio>=0.2.2')
	"$new/bin/python" -c "$works" 2>/dev/null && return 0
	[ -n "$wheels" ] || lock=(--require-hashes -r "$here/../lock-lgpio.txt")
	"${pip[@]}" --only-binary :all: "${lock[@]}" >/dev/null 2>&1 && return 0
	if [ -z "$wheels" ] && need_packages swig gcc libc6-dev python3-dev >/dev/null 2>&1; then
		say 'building lgpio ...'
		PYPI=1 "${pip[@]}" --no-build-isolation --no-binary lgpio "${lock[@]}" >/dev/null 2>&1 &&
			(cd / && "$new/bin/python" -c "$works" 2>/dev/null) && return 0
	fi
	say 'lgpio is missing: without it no button can be read. Raspberry Pi OS has it: sudo apt install python3-lgpio;'
	say 'elsewhere: sudo apt install swig gcc libc6-dev python3-dev, then this installer again, with network.'
}

note() { grep -qxF "$*" "$made" 2>/dev/null || printf '%s\n' "$*" >>"$made"; }

install_files() {
	local from to group
	install -d "$etc"
	for group in gpio i2c; do
		[ "$role" = hub ] || getent group "$group" >/dev/null || note "group $group"
	done
	while read -r from to; do
		if [ ! -d "$(dirname "$to")" ]; then
			note "folder $(dirname "$to")"
			install -d "$(dirname "$to")"
		fi
		install -m 644 "$here/$from" "$to"
	done < <(files)
	systemd-sysusers "/etc/sysusers.d/$program.conf"
	ln -sfn "$opt/$role/bin/$program" "/usr/local/bin/$program"
	"settings_of_$role"
	systemd-tmpfiles --create "/etc/tmpfiles.d/$program.conf"
}

settings_of_device() {
	local device hub serial=/sys/firmware/devicetree/base/serial-number
	device=t-$(tail -c 7 /etc/machine-id)
	if [ -r "$serial" ]; then device=t-$(tr -d '\0' <"$serial" | tail -c 6); fi
	if [ ! -e "$settings" ]; then
		sed "s/@DEVICE@/$device/" "$here/device/table-timer.toml" >"$settings"
	fi
	if [ -n "$boot" ]; then
		ln -sfn "$settings" "$etc/table-timer.toml"
		if ! grep -q '^# table-timer: begin' "$boot/config.txt"; then
			{ printf '# table-timer: begin\n' && cat "$here/device/config.txt" && printf '# table-timer: end\n'; } >>"$boot/config.txt"
			say 'config.txt was changed: restart the machine once'
		fi
	fi
	if [ -d /etc/chrony/conf.d ]; then
		hub=$("$new/bin/python" -c 'import sys, tomllib; print(tomllib.load(open(sys.argv[1], "rb"))["hub"]["host"])' \
			"$settings" 2>/dev/null || printf 'timer-hub.local')
		sed "s/@HUB@/$hub/" "$here/device/chrony.conf" >/etc/chrony/conf.d/table-timer.conf
	fi
}

settings_of_hub() {
	local password
	if [ ! -e "$settings" ]; then
		password=$(python3 -c 'import secrets; print(secrets.token_urlsafe(18))')
		install -m 640 -g timer-hub /dev/null "$settings"
		sed "s/@PASSWORD@/$password/" "$here/hub/hub.toml" >"$settings"
	fi
	install -d -m 750 -g timer-hub-broker /etc/timer-hub/broker
	"$new/bin/timer-hub" provision hub --config "$settings" >/dev/null ||
		say 'the broker has no files yet; when the settings are right: sudo timer-hub provision hub'
	# the distribution's own broker would have our port, and it is for this machine only
	if systemctl is-enabled --quiet mosquitto.service 2>/dev/null; then
		note 'disabled mosquitto.service'
		if running; then systemctl disable --quiet --now mosquitto.service; else systemctl disable --quiet mosquitto.service; fi
	fi
}

switch_to_new() {
	local old unit
	old=$(readlink "$opt/$role" || true)
	refuse_during_a_run
	ln -sfn "$new" "$opt/$role.next" && mv -T "$opt/$role.next" "$opt/$role"
	trap - EXIT
	systemctl enable --quiet "${units[@]}"
	if running; then
		systemctl daemon-reload
		refresh_services
		start_anew
		if complete; then
			for unit in "${units[@]}"; do wait_active "$unit" || not_active "$old"; done
		fi
	fi
	find "$opt" -maxdepth 1 -name "$role.*" ! -path "$new" -exec rm -rf {} +
	say "$program $("$new/bin/$program" --version | sed 's/.*version //') is installed; its settings: $settings"
}

refresh_services() {
	udevadm control --reload 2>/dev/null || true
	udevadm trigger --subsystem-match=gpio --subsystem-match=i2c-dev 2>/dev/null || true
	modprobe i2c-dev 2>/dev/null || true
	systemctl try-restart chrony.service 2>/dev/null || true
	systemctl try-reload-or-restart NetworkManager.service 2>/dev/null || true # a restart would cut ssh off
}

# Stopped first: then who is active is the new one, and crashes of another version do not count (`starts`).
start_anew() {
	systemctl stop "${units[@]}"
	rm -f "$data/starts"
	systemctl start --no-block "${units[@]}"
}

# Active, and still the same process three seconds later: who crashes is started again at once, and active again.
wait_active() {
	local tries=60 id
	while [ "$tries" -gt 0 ]; do
		if [ "$(systemctl is-active "$1")" = active ]; then
			id=$(systemctl show --property=InvocationID --value "$1")
			sleep 3
			if [ "$(systemctl is-active "$1")" = active ] &&
				[ "$(systemctl show --property=InvocationID --value "$1")" = "$id" ]; then return 0; fi
		fi
		tries=$((tries - 1))
		sleep 0.5
	done
	return 1
}

complete() {
	local problems
	problems=$("$new/bin/$program" config check --config "$settings" 2>&1 >/dev/null) && return 0
	say "The settings in $settings are not complete; change them and it starts by itself:"
	say "$problems"
	return 1
}

# A new version that does not start, with settings that it likes, is taken back.
not_active() {
	if [ -n "$1" ] && [ -d "$1" ]; then
		ln -sfn "$1" "$opt/$role.next" && mv -T "$opt/$role.next" "$opt/$role"
		rm -rf "$new"
		start_anew
		die "$program did not start within 30 s; the version of before is back. Why: journalctl -u $program"
	fi
	say "$program does not start yet. Why: journalctl -u $program"
}

# Not in fstab: what stands there is laid over in memory together with the root.
use_partition() {
	[ -n "$partition" ] || return 0
	local kind uuid unit
	need_packages e2fsprogs || die 'e2fsprogs is needed: sudo apt install e2fsprogs'
	kind=$(blkid -o value -s TYPE "$partition" || true)
	if [ -z "$kind" ]; then
		mkfs.ext4 -q -L timer-data "$partition"
	elif [ "$kind" != ext4 ]; then
		die "$partition holds $kind: name an empty partition, or one with ext4"
	fi
	uuid=/dev/disk/by-uuid/$(blkid -o value -s UUID "$partition")
	if [ ! -b "$uuid" ]; then uuid=$partition; fi
	unit=$(systemd-escape --path --suffix=mount "$data")
	refuse_during_a_run
	if running; then systemctl stop "${units[@]}"; fi
	mountpoint -q "$data" || keep_data "$partition" || {
		if running; then systemctl start --no-block "${units[@]}"; fi
		die "$partition cannot be used; journals stay where they are"
	}
	sed "s|@WHAT@|$uuid|; s|@FSCK@|$(systemd-escape --path "$uuid")|" "$here/device/data.mount" >"/etc/systemd/system/$unit"
	install -d /etc/systemd/journald.conf.d
	install -m 644 "$here/device/journald.conf" /etc/systemd/journald.conf.d/table-timer.conf
	systemctl enable --quiet "$unit"
	if running; then
		systemctl daemon-reload
		systemctl start "$unit" || say "$partition could not be mounted. Why: journalctl -u '$unit'"
		systemctl try-restart systemd-journald.service
		systemctl start --no-block "${units[@]}"
	fi
	say "journals are kept on $partition"
}

# What is there already goes along.
keep_data() {
	local on
	on=$(mktemp -d)
	mount "$1" "$on" || return 1
	cp -a "$data/." "$on/" || { umount "$on"; return 1; }
	umount "$on" && rmdir "$on"
}

forget_partition() {
	local unit
	unit=$(systemd-escape --path --suffix=mount "$data")
	[ -f "/etc/systemd/system/$unit" ] || return 0
	if mountpoint -q "$data"; then find "$data" -mindepth 1 -delete; fi
	if running; then systemctl stop "$unit"; fi
	systemctl disable --quiet "$unit"
	rm -f "/etc/systemd/system/$unit" /etc/systemd/journald.conf.d/table-timer.conf
	rmdir /etc/systemd/journald.conf.d 2>/dev/null || true
}

remove_everything() {
	local from to what thing folder
	[ -n "$yes" ] || die "this removes all settings and data of $program; say --uninstall --yes"
	refuse_during_a_run
	if running; then systemctl disable --quiet --now "${units[@]}" 2>/dev/null || true; else systemctl disable --quiet "${units[@]}" 2>/dev/null || true; fi
	while read -r from to; do rm -f "$to"; done < <(files)
	if [ "$role" = device ]; then forget_partition; fi
	rm -f "/usr/local/bin/$program" "/etc/chrony/conf.d/$program.conf" "$opt/$role"
	if [ "$role" = device ]; then
		rm -f "$settings" "${boot:-$etc}/ca.crt"
		if [ -n "$boot" ]; then sed -i '/^# table-timer: begin/,/^# table-timer: end/d' "$boot/config.txt"; fi
	fi
	find "$opt" -maxdepth 1 -name "$role.*" -exec rm -rf {} + 2>/dev/null || true
	rmdir "$opt" 2>/dev/null || true
	for thing in "${users[@]}"; do
		userdel "$thing" 2>/dev/null || true
		groupdel "$thing" 2>/dev/null || true
	done
	while read -r what thing; do
		case $what in
		group) groupdel "$thing" 2>/dev/null || true ;;
		disabled) if running; then systemctl enable --quiet --now "$thing"; else systemctl enable --quiet "$thing"; fi ;;
		folder) rmdir -p "$thing" 2>/dev/null || true ;;
		esac
	done < <(cat "$made" 2>/dev/null || true)
	rm -rf "$etc" "$data" "/run/$program"
	if running; then
		systemctl daemon-reload
		systemctl reset-failed "${units[@]}" 2>/dev/null || true
		refresh_services
	fi
	say "$program is removed; packages that apt installed are still there"
}

main() {
	read_arguments "$@"
	[ "$(id -u)" = 0 ] || die 'only root can do that: put sudo in front'
	set_names
	refuse_on_an_overlay
	if [ -n "$uninstall" ]; then
		remove_everything
		return
	fi
	refuse_during_a_run
	install_packages
	build_venv
	install_files
	switch_to_new
	use_partition
}

main "$@"
