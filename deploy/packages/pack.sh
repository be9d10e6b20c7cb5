# Makes packages of a built program, for deploy/dist.sh, which reads this file. Each function is given TREE, the folder
# that a release's archive is made of, and OS/ARCH, and writes into $out what uses $version and $work.
here=deploy/packages

# archive DIR NAME... is a gzipped tar of what stands in a folder, and tells neither when nor by whom it was made.
archive() {
	tar -C "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "${@:2}" | gzip -9n
}

# readable DIR gives files the modes that everybody's checkout could have had.
readable() { chmod -R u=rwX,go=rX "$1"; }

# fill FILE NAME=VALUE... prints a file with the values in place of @NAME@.
fill() {
	local file=$1 pair script=""
	shift
	for pair in "VERSION=$version" "$@"; do
		script+="s|@${pair%%=*}@|${pair#*=}|g;"
	done
	sed "$script" "$file"
}

# wheel makes what pip, pipx and uv install: a zip of the program as a script, its manual, and three files about it.
wheel() {
	local tree=$1 name=weirmq_cli-$version dir tags tag file sum
	case $2 in # the program needs no libc; Go 1.26 needs macOS 12
	linux/amd64) tags=manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64 ;;
	linux/arm64) tags=manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64 ;;
	darwin/amd64) tags=macosx_12_0_x86_64 ;;
	darwin/arm64) tags=macosx_12_0_arm64 ;;
	esac
	dir=$(mktemp -d "$work/wheel.XXXXXX")
	mkdir -p "$dir/$name.data/scripts" "$dir/$name.data/data/share/man" "$dir/$name.dist-info/licenses"
	cp "$tree/weir" "$dir/$name.data/scripts"
	cp -r "$tree/man/man1" "$dir/$name.data/data/share/man"
	cp LICENSE "$dir/$name.dist-info/licenses"
	{ fill $here/wheel/METADATA && cat $here/README.md; } >"$dir/$name.dist-info/METADATA"
	{
		printf 'Wheel-Version: 1.0\nGenerator: weir\nRoot-Is-Purelib: false\n'
		for tag in ${tags//./ }; do echo "Tag: py3-none-$tag"; done
	} >"$dir/$name.dist-info/WHEEL"
	(
		cd "$dir"
		find . -type f -printf '%P\n' | sort | while read -r file; do
			sum=$(sha256sum "$file" | cut -c 1-64 | tr a-f A-F | basenc -d --base16 | basenc --base64url | tr -d =)
			echo "$file,sha256=$sum,$(stat -c %s "$file")"
		done >"$work/RECORD"
		echo "$name.dist-info/RECORD,," >>"$work/RECORD"
		mv "$work/RECORD" "$name.dist-info/RECORD"
		readable .
		find . -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
		# Sorted, and RECORD last, as the format recommends.
		cut -d , -f 1 "$name.dist-info/RECORD" | TZ=UTC zip -q -9 -X -D "$out/$name-py3-none-$tags.whl" -@
	)
}

# npm_platform makes the package that holds the program for one platform.
npm_platform() {
	local os=${2%/*} cpu=${2#*/} dir
	cpu=${cpu/amd64/x64}
	dir=$(mktemp -d "$work/npm.XXXXXX")
	mkdir -p "$dir/package/bin"
	cp "$1/weir" "$dir/package/bin"
	cp LICENSE "$dir/package"
	fill $here/npm/platform.json "OS=$os" "CPU=$cpu" >"$dir/package/package.json"
	readable "$dir/package"
	archive "$dir" package >"$out/weirmq-cli-$os-$cpu-$version.tgz"
}

# npm_main makes the package that people name: it wants that of the platform, and starts the program in it.
npm_main() {
	mkdir -p "$work/npm/package"
	cp LICENSE $here/README.md $here/npm/weir.js "$work/npm/package"
	fill $here/npm/main.json >"$work/npm/package/package.json"
	readable "$work/npm/package"
	archive "$work/npm" package >"$out/weirmq-cli-$version.tgz"
}

# debian makes the package for dpkg and apt, with the systemd unit: an ar of two tars.
debian() {
	local tree=$1 arch=${2#*/} dir file size
	dir=$(mktemp -d "$work/debian.XXXXXX")
	mkdir -p "$dir/control" "$dir/data"/usr/{bin,lib/systemd/system,share/{doc/weir,man/man1}} "$dir/data/etc/weir" \
		"$dir/data"/usr/share/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
	cp "$tree/weir" "$dir/data/usr/bin"
	cp deploy/systemd/weir.service "$dir/data/usr/lib/systemd/system"
	cp $here/debian/weir.env "$dir/data/etc/weir"
	cp LICENSE "$dir/data/usr/share/doc/weir/copyright"
	gzip -9n <CHANGELOG.md >"$dir/data/usr/share/doc/weir/changelog.gz"
	for file in "$tree"/man/man1/*.1; do
		gzip -9n <"$file" >"$dir/data/usr/share/man/man1/${file##*/}.gz"
	done
	cp "$tree/completion/weir.bash" "$dir/data/usr/share/bash-completion/completions/weir"
	cp "$tree/completion/weir.zsh" "$dir/data/usr/share/zsh/vendor-completions/_weir"
	cp "$tree/completion/weir.fish" "$dir/data/usr/share/fish/vendor_completions.d"
	cp $here/debian/{conffiles,postinst,prerm} "$dir/control"
	size=$(find "$dir/data" -type f -printf '%s\n' | awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }')
	fill $here/debian/control "ARCH=$arch" "SIZE=$size" >"$dir/control/control"
	(cd "$dir/data" && find . -type f -printf '%P\n' | sort | xargs md5sum) >"$dir/control/md5sums"
	readable "$dir"
	chmod 600 "$dir/data/etc/weir/weir.env" # it will hold a password
	echo 2.0 >"$dir/debian-binary"
	archive "$dir/control" . >"$dir/control.tar.gz"
	archive "$dir/data" . >"$dir/data.tar.gz"
	(cd "$dir" && ar qcD "$out/weir_${version}_$arch.deb" debian-binary control.tar.gz data.tar.gz)
}
