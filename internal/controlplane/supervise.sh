# Runs a command, $2 and what follows, until it is told to stop or the test
# process is gone. Standard input is a pipe whose other end that process alone
# holds: a line means stop, its end without a line means that the process died,
# in which case the folder $1 has no owner left and is removed too.
# Descriptor 3 is inherited by the command alone and so closes when it ends.
folder=$1
shift
trap '' HUP INT QUIT TERM
"$@" </dev/null &
child=$!
exec 3>&-
word=
read -r word
kill -KILL "$child" 2>/dev/null
wait "$child" 2>/dev/null
[ -n "$word" ] || rm -rf "$folder"
