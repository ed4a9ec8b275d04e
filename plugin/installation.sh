# Finds the installation: an agent may have copied this folder, perhaps long ago, so the program is not beside it. The file
# `installation` in the home of session memory says where it is; `watchkeeper plugin install` writes it.
# Sets root, the folder of the package, node, the program that installed it, and bytes, its size; root is empty if nothing is installed.
root='' node='' bytes=''
line_end='
'
fifth() { bytes=${5-}; }
case ${XDG_STATE_HOME-} in
  /*) home=$XDG_STATE_HOME/watchkeeper ;;
  *) home=${HOME-}/.local/state/watchkeeper ;;
esac
home=${WATCHKEEPER_HOME:-$home}
case $home in
  /*)
    # What runs is this user's own choice: home and file belong to this user, and nobody else can write them. Users by their numbers:
    # a directory service may be slow to say their names.
    if [ -O "$home" ] && [ -O "$home/installation" ] && [ -f "$home/installation" ] && [ -r "$home/installation" ]; then
      { IFS= read -r root; IFS= read -r node; } <"$home/installation"
      case $node in /*) program=$node ;; *) program=. ;; esac
      # One look at the home, at Node and at the file, which sort in this order. PATH may be empty, or lack the folders of the system.
      seen=$(cd "$home" && LC_ALL=C TIME_STYLE=locale PATH=${PATH:+$PATH:}/usr/bin:/bin ls -ndL -- . "$program" installation 2>/dev/null)
      case ${seen%%"$line_end"*} in ?????-??-*) ;; *) root='' ;; esac
      case ${seen##*"$line_end"} in ?????-??-*) ;; *) root='' ;; esac
      seen=${seen#*"$line_end"}
      # shellcheck disable=SC2086 # Its words: mode, links, owner, group, size.
      fifth ${seen%%"$line_end"*}
    fi
    ;;
esac
case $root in /*) ;; *) root='' ;; esac
