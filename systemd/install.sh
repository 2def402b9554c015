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
    --data-partition DEVICE  (table) keep journals on this partition, which must be empty; for a root that is only read
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
new='' old='' kept='' shape_before='' # the version that comes, the one that is there, and what is that one's

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
		program=table-timer other=timer-hub units=(table-timer.service) users=(table-timer)
	else
		program=timer-hub other=table-timer units=(timer-hub-broker.service timer-hub.service)
		users=(timer-hub timer-hub-broker)
	fi
	etc=/etc/$program
	made=$etc/made # what was not there before, for the way back
	boot=''
	for folder in /boot/firmware /boot; do
		if [ -f "$folder/config.txt" ]; then boot=$folder; break; fi
	done
	data=/var/lib/$program
	before_update=$data/before-update.sqlite3
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
device/time-from-hub.sh /usr/local/lib/table-timer/time-from-hub
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
	running || return 0 # an image that is made in a container
	findmnt -no FSTYPE / | grep -qx overlay || return 0
	local how="switch that off as you switched it on, then restart"
	if command -v raspi-config >/dev/null; then
		how='sudo raspi-config nonint disable_overlayfs && sudo reboot'
	elif command -v overlayroot-chroot >/dev/null; then
		how="sudo overlayroot-chroot sed -i 's/^overlayroot=/#&/' /etc/overlayroot.conf && sudo reboot"
	fi
	die "the root of this machine is only read: what is changed now is gone at its next start. First:
$how"
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
	need_packages avahi-daemon libnss-mdns ||
		say 'avahi could not be installed: names like timer-hub.local are not found; use addresses'
	if [ "$role" = device ] && apt-cache show python3-lgpio >/dev/null 2>&1; then
		need_packages python3-lgpio || true # else it is built below
	fi
}

# A new version lies beside the old one until it is known to start.
build_venv() {
	local source=("$here"/../pyproject.toml) find=()
	install -d "$opt"
	old=$(readlink "$opt/$role" || true)
	if [ ! -x "$old/bin/$program" ]; then old=''; fi
	new=$(mktemp -d "$opt/$role.XXXXXX")
	chmod 755 "$new"
	trap undo EXIT
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

# Whatever went wrong: program and units are those of before.
undo() {
	put_files_back
	rm -rf "$new"
}

# A version that does not like settings which the old one likes would not start: the old one stays.
refuse_new_demands() {
	local problems
	[ -n "$old" ] || return 0
	"$old/bin/$program" config check --config "$settings" >/dev/null 2>&1 || return 0
	problems=$("$new/bin/$program" config check --config "$settings" 2>&1 >/dev/null) && return 0
	die "the new version does not take the settings that the old one takes. Nothing was changed.
$problems"
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

more_files() {
	printf '%s\n' "/etc/chrony/conf.d/$program.conf"
	[ "$role" = device ] || find "$etc/broker" -type f 2>/dev/null || true
}

keep_files() {
	local from to
	[ -n "$old" ] || return 0
	kept=$(mktemp -d)
	while read -r to; do
		if [ -e "$to" ]; then cp -a --parents "$to" "$kept"; fi
	done < <(files | while read -r from to; do printf '%s\n' "$to"; done; more_files)
}

put_files_back() {
	local from to
	[ -n "$kept" ] || return 0
	while read -r from to; do
		if [ ! -e "$kept$to" ]; then rm -f "$to"; fi
	done < <(files)
	while read -r to; do cp -a "$kept$to" "$to"; done < <(find "$kept" -type f -printf '/%P\n')
	rm -rf "$kept"
	kept=''
	if running; then systemctl daemon-reload; fi
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
	local device serial=/sys/firmware/devicetree/base/serial-number
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
		install -m 644 "$here/device/chrony.conf" /etc/chrony/conf.d/table-timer.conf
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
	local unit
	refuse_during_a_run
	if running; then
		systemctl stop "${units[@]}"
		keep_database
	fi
	ln -sfn "$new" "$opt/$role.next" && mv -T "$opt/$role.next" "$opt/$role"
	trap - EXIT
	systemctl enable --quiet "${units[@]}"
	if running; then
		systemctl daemon-reload
		refresh_services
		start_anew
		if complete; then
			for unit in "${units[@]}"; do wait_active "$unit" || not_active; done
		fi
	fi
	rm -rf "$kept" "$before_update"
	find "$opt" -maxdepth 1 -name "$role.*" ! -path "$new" -exec rm -rf {} +
	say "$program $("$new/bin/$program" --version | sed 's/.*version //') is installed; its settings: $settings"
}

# With the old program, before the new one changes the database in a way that the old one cannot read.
keep_database() {
	local why
	if [ "$role" = device ] || [ -z "$old" ] || [ ! -e "$data/hub.sqlite3" ]; then return 0; fi
	shape_before=$(shape)
	why=$("$old/bin/$program" backup "$before_update" --config "$settings" 2>&1 >/dev/null) && return 0
	if [ -n "$force" ]; then
		say "there is no backup: $why"
		return 0
	fi
	systemctl start --no-block "${units[@]}"
	die "no backup can be made before the update. Nothing was changed. (--force updates without one.)
$why"
}

# The version of the database's tables.
shape() {
	python3 - "$data/hub.sqlite3" 2>/dev/null <<'END' || true
import sqlite3, sys
database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
print(*database.execute("SELECT version_num FROM alembic_version").fetchone())
END
}

# What the new version heard of in its short life the tables send again: a restored database has a new name.
put_database_back() {
	if [ ! -e "$before_update" ]; then return 0; fi
	if [ "$(shape)" != "$shape_before" ]; then
		say 'the new version has changed the database; the one of before is put back:'
		"$old/bin/$program" restore "$before_update" --config "$settings" ||
			{ say "it could not be put back; it is $before_update"; return 0; }
	fi
	rm -f "$before_update"
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
	if [ -z "$old" ]; then
		say "$program does not start yet. Why: journalctl -u $program"
		return 0
	fi
	systemctl stop "${units[@]}"
	ln -sfn "$old" "$opt/$role.next" && mv -T "$opt/$role.next" "$opt/$role"
	put_files_back
	put_database_back
	systemd-tmpfiles --create "/etc/tmpfiles.d/$program.conf"
	rm -rf "$new"
	refresh_services
	start_anew
	die "$program did not start within 30 s; the version of before is back. Why: journalctl -u $program"
}

mount_unit() { systemd-escape --path --suffix=mount "$data"; }

# The device that journals are kept on; nothing where there is none.
partition_now() {
	local what
	what=$(sed -n 's/^What=//p' "/etc/systemd/system/$(mount_unit)" 2>/dev/null) || true
	if [ -n "$what" ]; then realpath "$what"; fi
}

# Only what is empty, or ours: whoever names a wrong partition must lose nothing.
check_partition() {
	[ -n "$partition" ] || return 0
	local now where found label kind
	partition=$(realpath "$partition")
	need_packages e2fsprogs || die 'e2fsprogs is needed: sudo apt install e2fsprogs'
	now=$(partition_now)
	where=$(findmnt -rno TARGET --source "$partition" || true)
	if [ "$now" = "$partition" ] && [ "$where" = "$data" ]; then return 0; fi
	[ -z "$where" ] || die "$partition is in use, as $(printf '%s' "$where" | tr '\n' ' '): name an empty one. Nothing was changed."
	# mounted anywhere else, swap, part of something larger, or a disk of which a part is mounted: the kernel knows
	python3 -c 'import os, sys; os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)' "$partition" 2>/dev/null ||
		die "$partition is in use: name an empty one. Nothing was changed."
	if [ -n "$now" ] && [ "$now" != "$partition" ] && ! mountpoint -q "$data"; then
		die "journals are kept on $now, which is not mounted: without it they would be lost from sight. Nothing was changed."
	fi
	found=$(blkid -p -o export "$partition") || [ $? = 2 ] ||
		die "$partition holds more than one thing: name an empty one. Nothing was changed."
	kind=$(sed -n 's/^TYPE=//p' <<<"$found") label=$(sed -n 's/^LABEL=//p' <<<"$found")
	if [ -z "$kind" ] && grep -q ^PTTYPE= <<<"$found"; then
		die "$partition is a whole disk: name one of its partitions. Nothing was changed."
	fi
	case $kind in
	'') ;;
	ext4) look_into_partition "$label" ;;
	*) die "$partition holds $kind: name an empty one. Nothing was changed." ;;
	esac
}

look_into_partition() {
	local on holds='' twice='' file
	on=$(mktemp -d)
	mount -t ext4 -o ro,noload "$partition" "$on" || die "$partition cannot be read. Nothing was changed."
	if [ "$1" = timer-data ]; then
		for file in "$data"/*.journal; do
			if [ -e "$on/${file##*/}" ] && ! cmp -s "$file" "$on/${file##*/}"; then twice=${file##*/}; fi
		done
	else
		holds=$(find "$on" -mindepth 1 -maxdepth 1 ! -name lost+found -printf '%f\n' | sed -n 1,3p | tr '\n' ' ')
	fi
	umount "$on" && rmdir "$on"
	[ -z "$holds" ] || die "$partition is not empty: $holds... Name an empty one. Nothing was changed."
	[ -z "$twice" ] || die "$partition holds another $twice. Nothing was changed. When nobody needs what is on it any more:
sudo mkfs.ext4 -L timer-data $partition"
}

# Not in fstab: what stands there is laid over in memory together with the root.
use_partition() {
	[ -n "$partition" ] || return 0
	local now uuid unit
	unit=$(mount_unit) now=$(partition_now)
	refuse_during_a_run
	if running; then systemctl stop "${units[@]}"; fi
	if [ "$now" != "$partition" ]; then
		take_partition || {
			if running; then systemctl start --no-block "${units[@]}"; fi
			die "$partition cannot be used; journals stay where they are"
		}
		if running && [ -n "$now" ]; then systemctl stop "$unit"; fi
	fi
	uuid=/dev/disk/by-uuid/$(blkid -p -o value -s UUID "$partition")
	if [ ! -b "$uuid" ]; then uuid=$partition; fi
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
	if [ -n "$now" ] && [ "$now" != "$partition" ]; then say "what was kept on $now is still there, too"; fi
}

# What is there already goes along.
take_partition() {
	local on
	if [ -z "$(blkid -p -o value -s TYPE "$partition")" ]; then
		mkfs.ext4 -q -L timer-data "$partition" </dev/null || return 1
	else
		e2label "$partition" timer-data || return 1
	fi
	on=$(mktemp -d)
	mount -t ext4 "$partition" "$on" || return 1
	cp -a "$data/." "$on/" || { umount "$on"; return 1; }
	umount "$on" && rmdir "$on"
}

forget_partition() {
	local unit
	unit=$(mount_unit)
	[ -f "/etc/systemd/system/$unit" ] || return 0
	remove_data
	if running; then systemctl stop "$unit"; fi
	systemctl disable --quiet "$unit"
	rm -f "/etc/systemd/system/$unit" /etc/systemd/journald.conf.d/table-timer.conf
	rmdir /etc/systemd/journald.conf.d 2>/dev/null || true
}

# On a partition of its own somebody may have put other things.
remove_data() {
	local left
	if ! mountpoint -q "$data"; then
		rm -rf --one-file-system "$data"
		return
	fi
	find "$data" -xdev -mindepth 1 -depth -user "${users[0]}" -delete 2>/dev/null || true
	left=$(find "$data" -xdev -mindepth 1 -maxdepth 1 ! -name lost+found -printf '%f\n' | sed -n 1,3p | tr '\n' ' ')
	[ -z "$left" ] || say "left on $(findmnt -no SOURCE "$data"), because $program did not make it: $left"
}

remove_everything() {
	local from to what thing
	[ -n "$yes" ] || die "this removes all settings and data of $program; say --uninstall --yes"
	refuse_during_a_run
	if running; then systemctl disable --quiet --now "${units[@]}" 2>/dev/null || true; else systemctl disable --quiet "${units[@]}" 2>/dev/null || true; fi
	while read -r from to; do rm -f "$to"; done < <(files)
	if [ "$role" = device ]; then forget_partition; fi
	remove_data
	rm -f "/usr/local/bin/$program" "/etc/chrony/conf.d/$program.conf" "$opt/$role"
	if [ "$role" = device ]; then
		rm -f "$settings" "${boot:-$etc}/ca.crt" /run/chrony-dhcp/table-timer.sources
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
		folder) leave_folder "$thing" ;;
		esac
	done < <(cat "$made" 2>/dev/null || true)
	rm -rf "$etc" "/run/$program"
	if running; then
		systemctl daemon-reload
		systemctl reset-failed "${units[@]}" 2>/dev/null || true
		refresh_services
	fi
	say "$program is removed; packages that apt installed are still there"
}

# One that table and hub use is removed by whoever goes last.
leave_folder() {
	rmdir -p "$1" 2>/dev/null || true
	if [ -d "$1" ] && [ -d "/etc/$other" ]; then (
		made=/etc/$other/made
		note "folder $1"
	) fi
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
	check_partition
	build_venv
	refuse_new_demands
	keep_files
	install_files
	switch_to_new
	use_partition
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then main "$@"; fi
