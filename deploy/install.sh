#!/bin/sh
# Installs the `toolmend` command: downloads the archive of this platform, checks its checksum, and copies the command into a folder.
#
#   curl -fsSL https://github.com/toolmend/toolmend/releases/latest/download/install.sh | sh
#
# TOOLMEND_INSTALL_DIR is the folder (default: ~/.local/bin). TOOLMEND_DOWNLOAD_URL is where the archives are.
set -eu

url=${TOOLMEND_DOWNLOAD_URL:-https://github.com/toolmend/toolmend/releases/latest/download}
folder=${TOOLMEND_INSTALL_DIR:-$HOME/.local/bin}

fail() {
    echo "toolmend: $1" >&2
    exit 1
}

case "$(uname -s)" in
    Linux) system=unknown-linux-musl ;;
    Darwin) system=apple-darwin ;;
    *) fail "there is no archive for $(uname -s); use install.ps1 on Windows, or: cargo install --locked toolmend-cli" ;;
esac
case "$(uname -m)" in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no archive for $(uname -m); use: cargo install --locked toolmend-cli" ;;
esac

name=toolmend-$machine-$system
download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT

for file in "$name.tar.gz" "$name.tar.gz.sha256"; do
    curl --fail --silent --show-error --location --output "$download/$file" "$url/$file" \
        || fail "cannot download $url/$file"
done
cd "$download"
if command -v sha256sum >/dev/null; then
    sha256sum --check --quiet "$name.tar.gz.sha256" || fail "the checksum of $name.tar.gz is wrong"
else
    shasum --algorithm 256 --check --quiet "$name.tar.gz.sha256" || fail "the checksum of $name.tar.gz is wrong"
fi
tar -xzf "$name.tar.gz"
mkdir -p "$folder"
# A running gateway keeps its old file.
rm -f "$folder/toolmend"
cp "$name/toolmend" "$folder/toolmend"
chmod 755 "$folder/toolmend"
echo "toolmend: installed $("$folder/toolmend" --version) as $folder/toolmend"
case ":$PATH:" in
    *":$folder:"*) ;;
    *) echo "toolmend: add $folder to your PATH" ;;
esac
