# Installs the `toolmend` command on Windows: downloads the archive, checks its checksum, and copies the command into a folder.
#
#   irm https://github.com/toolmend/toolmend/releases/latest/download/install.ps1 | iex
#
# TOOLMEND_INSTALL_DIR is the folder. TOOLMEND_DOWNLOAD_URL is where the archives are.
$ErrorActionPreference = 'Stop'

$url = if ($env:TOOLMEND_DOWNLOAD_URL) { $env:TOOLMEND_DOWNLOAD_URL }
    else { 'https://github.com/toolmend/toolmend/releases/latest/download' }
$folder = if ($env:TOOLMEND_INSTALL_DIR) { $env:TOOLMEND_INSTALL_DIR } else { "$env:LOCALAPPDATA\toolmend\bin" }
$machine = if ($env:PROCESSOR_ARCHITECTURE -eq 'ARM64') { 'aarch64' } else { 'x86_64' }
$name = "toolmend-$machine-pc-windows-msvc"
$download = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory -Path $download | Out-Null
try {
    foreach ($file in "$name.zip", "$name.zip.sha256") {
        Invoke-WebRequest -UseBasicParsing -Uri "$url/$file" -OutFile (Join-Path $download $file)
    }
    $expected = (Get-Content (Join-Path $download "$name.zip.sha256") -Raw).Split(' ')[0]
    $found = (Get-FileHash -Algorithm SHA256 (Join-Path $download "$name.zip")).Hash
    if ($found -ne $expected) { throw "toolmend: the checksum of $name.zip is wrong" }
    Expand-Archive -Path (Join-Path $download "$name.zip") -DestinationPath $download
    New-Item -ItemType Directory -Force -Path $folder | Out-Null
    Copy-Item -Force (Join-Path $download "$name\toolmend.exe") $folder
    Write-Output "toolmend: installed $folder\toolmend.exe"
    if (($env:PATH -split ';') -notcontains $folder) { Write-Output "toolmend: add $folder to your PATH" }
}
finally {
    Remove-Item -Recurse -Force $download
}
