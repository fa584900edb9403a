#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Programs of the distribution under `hearth record`, and under `hearth run`: each prints, and ends with, what it
# does without; none hangs.
set -euo pipefail
# shellcheck source=../../examples/lib.sh source-path=SCRIPTDIR
source "$(dirname "$0")/../../examples/lib.sh"

usage() {
  cat <<END
usage: test/e2e/recorded-programs.sh [--runs=N] [--hearth=COMMAND] [PROGRAM...]
  --runs=N          runs of each program, recorded in both modes and sampled, and with all its blocks in one pool, by turns, four
                    at once (default: 50)
  --hearth=COMMAND  default: build/bin/hearth
  PROGRAM           python git sqlite gcc perl redis nginx node java (default: those that are installed)
Exit status 1 if a run printed something else, ended otherwise, took more than two minutes, or left no profile.
END
}

runs=50 programs=()
parse_arguments '--runs=[1-9]*' '--hearth=?*' 'programs=python|git|sqlite|gcc|perl|redis|nginx|node|java' -- "$@"
hearth=$(realpath "$hearth")

declare -A binaries=([python]=/usr/bin/python3 [git]=/usr/bin/git [sqlite]=/usr/bin/sqlite3 [gcc]=/usr/bin/gcc
  [perl]=/usr/bin/perl [redis]=/usr/bin/redis-server [nginx]=/usr/sbin/nginx [node]=/usr/bin/node [java]=/usr/bin/java)
if ((${#programs[@]} == 0)); then
  for program in python git sqlite gcc perl redis nginx node java; do
    [[ $program != nginx || -x /usr/bin/ab ]] || continue
    [[ ! -x ${binaries[$program]} ]] || programs+=("$program")
  done
fi

((${#programs[@]} > 0)) || fail 'none of the programs is installed'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each workload runs "$@" PROGRAM ARGUMENT... in an empty folder and prints what must not change.

run_python() {
  "$@" /usr/bin/python3 - <<'END'
import json, os, re, subprocess, sys, threading
sums = []
def work(number):
    rows = [{"name": f"row{i}", "values": list(range(i % 20))} for i in range(2000)]
    sums.append(sum(len(re.sub("[aeiou]", "", json.dumps(row))) for row in rows) + number)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(sums))
print(subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True).stdout.strip())
child = os.fork()
if child == 0:
    print(sum(len(str(i)) for i in range(10000)), flush=True)
    os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
sys.exit(3)
END
}

run_git() {
  export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' HOME=$PWD
  export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
  git init -q -b main store
  for number in $(seq 200); do seq "$number" > "store/file$number"; done
  "$@" /usr/bin/git -C store add .
  "$@" /usr/bin/git -C store commit -qm first
  seq 1000 > store/file7
  "$@" /usr/bin/git -C store diff --stat
  "$@" /usr/bin/git -C store log --format=%H
  "$@" /usr/bin/git -C store gc -q
}

run_sqlite() {
  "$@" /usr/bin/sqlite3 :memory: <<'END'
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000)
insert into t select x, 'row ' || (x * 7919 % 20011) from c;
create index i on t(b);
select count(*), sum(length(b)), min(b), max(b) from t;
select b from t where b like 'row 19%' order by b limit 5;
select nosuch from t;
END
}

run_gcc() {
  printf '#include <stdio.h>\n#include <stdlib.h>\n' > in.c
  for number in $(seq 100); do
    echo "int f$number(int x) { for (int i = 0; i < x; ++i) x ^= i * $number; printf(\"%d\", x); return x; }" >> in.c
  done
  "$@" /usr/bin/gcc -O2 -S -o out.s in.c && md5sum < out.s
}

run_perl() {
  "$@" /usr/bin/perl -e '
    my %h; for my $i (1 .. 20000) { push @{$h{$i % 97}}, "value$i" }
    print join(",", map { scalar @{$h{$_}} } sort { $a <=> $b } keys %h), "\n";
    my $text = join " ", map { "word$_" } 1 .. 5000; my $n = () = $text =~ /w(o)rd\d*7\b/g; print "$n\n";
    my $child = fork; if (!$child) { my @a = map { "x" x $_ } 1 .. 500; exit 4 } waitpid $child, 0; print $? >> 8, "\n"; exit 6'
}

listens() { (: < "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }

# A port that nobody listens at, below those that the system gives to clients.
free_port() {
  local port
  for ((;;)); do
    port=$((20000 + RANDOM % 12000))
    listens $port || break
  done
  echo $port
}

# A server with threads, and its clients.
run_redis() {
  local port
  port=$(free_port)
  "$@" /usr/bin/redis-server --port "$port" --save '' --io-threads 2 > server.log &
  local server=$!
  until redis-cli -p "$port" ping > /dev/null 2>&1; do kill -0 $server && sleep 0.05; done
  redis-benchmark -p "$port" -n 2000 -c 20 -P 4 -q -t set,get,lpush,lpop > /dev/null
  for number in $(seq 20); do echo "set key$number $(seq -s, "$number")"; done | redis-cli -p "$port" | sort | uniq -c
  redis-cli -p "$port" get key7
  redis-cli -p "$port" eval 'local t = {} for i = 1, 1000 do t[i] = "v" .. i end return #t' 0
  redis-cli -p "$port" shutdown nosave || true
  wait $server
}

# get PORT PATH: what a web server answers.
get() {
  exec 3<> "/dev/tcp/127.0.0.1/$1"
  printf 'GET %s HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n' "$2" >&3
  tr -d '\r' <&3 | grep -a -v -e '^Date:' -e '^Last-Modified:' -e '^ETag:' | md5sum
  exec 3>&-
}

# serve SIGNAL COMMAND...: a server of processes, under load, and ended by that signal.
serve() {
  local signal=$1 port
  port=$(free_port)
  shift
  sed "s/PORT/$port/" template.conf > nginx.conf
  "$@" /usr/sbin/nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/error.log" > server.log 2>&1 &
  local server=$!
  until listens "$port"; do kill -0 $server && sleep 0.05; done
  ab -q -k -n 2000 -c 20 "http://127.0.0.1:$port/page.txt" | grep -e '^Complete' -e '^Failed' -e '^Non-2xx' -e '^Document L'
  ab -q -n 300 -c 20 -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port/page.txt" | grep -e '^Complete' -e '^Failed'
  get "$port" /page.txt
  get "$port" /nothing
  kill -"$signal" $server
  local status=0
  wait $server || status=$?
  echo "ended by $signal: $status"
  grep -c -e '\[alert\]' -e '\[crit\]' -e '\[emerg\]' error.log || true
}

run_nginx() {
  mkdir -p temporary www && seq 20000 > www/page.txt
  cat > template.conf <<END
user $(id -un) $(id -gn);
daemon off;
worker_processes 2;
pid nginx.pid;
error_log error.log;
events { worker_connections 256; }
http {
  access_log access.log;
  gzip on;
  gzip_types text/plain;
  default_type text/plain;
  client_body_temp_path temporary/body;
  proxy_temp_path temporary/proxy;
  fastcgi_temp_path temporary/fastcgi;
  uwsgi_temp_path temporary/uwsgi;
  scgi_temp_path temporary/scgi;
  server { listen 127.0.0.1:PORT; root www; }
}
END
  serve QUIT "$@"
  serve TERM "$@"
}

# The master process and two workers, twice: whole profiles of all six, or of the master alone.
check_nginx() {
  local folder=$1 option=$2 follow=$3 expected=2 files profile
  [[ -z $follow ]] || expected=6
  files=("$folder"/raw*)
  ((${#files[@]} == expected)) || echo "${#files[@]} profiles instead of $expected"
  for profile in "${files[@]}"; do
    if [[ $option == --mode=trace ]]; then
      "$hearth" trace "$profile" | grep -q '^end ' || echo 'the end is not in the trace'
    else
      "$hearth" index -q --symbols "$profile" -o "$profile.prof" || true
    fi
  done 2>&1
}

run_node() {
  "$@" /usr/bin/node -e '
    const { Worker, isMainThread } = require("worker_threads");
    const rows = Array.from({ length: 20000 }, (_, i) => ({ name: "row" + i, values: [i, i * 2] }));
    console.log(JSON.stringify(rows).length);
    const worker = new Worker("require(\"worker_threads\").parentPort.postMessage(\"x\".repeat(1000).length)", { eval: true });
    worker.on("message", (n) => { console.log(n); });
    worker.on("exit", (code) => { process.exit(7); });'
}

run_java() {
  "$@" /usr/bin/java -Xshare:auto -XX:+PrintFlagsFinal -version 2>&1 | grep -c -e UseCompressedOops -e OpenJDK
}

# outcome PROGRAM FOLDER [COMMAND...]: what the workload prints, and its exit status.
outcome() {
  local program=$1 status=0
  mkdir -p "$2" && cd "$2"
  shift 2
  "run_$program" "$@" 2> errors || status=$?
  echo "exit status $status"
}

options_of() {
  case $(($1 % 4)) in
    0) echo --mode=aggregate ;;
    1) echo --mode=trace ;;
    2) echo --sample=65536 ;;
    3) echo run ;;
  esac
}

# try PROGRAM NUMBER: one run. Says what is wrong with it.
try() {
  local folder=$work/$1-$2 option
  local -a follow=() command
  option=$(options_of "$2")
  if [[ $option == run ]]; then
    command=(run)
  else
    (($2 % 2)) || follow=(--follow-children)
    command=(record "$option" "${follow[@]}" -o "$folder/raw")
  fi
  local -r name="$1, run $2 ($option ${follow[*]})"
  export HEARTH_RECORD_TEST=$folder/raw
  (outcome "$1" "$folder/run" "$hearth" "${command[@]}" --) > "$work/$1-$2.out" || true
  if ! cmp -s "$work/$1.out" "$work/$1-$2.out"; then
    echo "$name: not as without:"
    diff "$work/$1.out" "$work/$1-$2.out" | head -n 5 || true
    tail -n 3 "$folder/run/errors"
  elif [[ $option != run ]]; then
    check_profile "$1" "$folder" "$option" "${follow[*]}" | sed "s/^/$name: /"
  fi
  rm -rf "$folder"
}

# check_profile PROGRAM FOLDER OPTION FOLLOW: says what is wrong with the profile of a run.
check_profile() {
  if ! compgen -G "$2/raw*" > /dev/null; then
    echo 'no profile'
  elif declare -F "check_$1" > /dev/null; then
    "check_$1" "$2" "$3" "$4"
  fi
}

failed=0
for program in "${programs[@]}"; do
  (outcome "$program" "$work/$program-plain") > "$work/$program.out"
  export -f try check_profile outcome options_of listens free_port get serve check_nginx "run_$program"
  export work hearth
  findings=$(seq "$runs" | xargs -P 4 -I {} timeout 120 bash -c "try $program {} || echo '$program, run {}: failed'" \
    || echo "$program: a run took more than two minutes")
  if [[ -n $findings ]]; then
    echo "$findings"
    failed=1
  else
    echo "$program: $runs runs as without"
  fi
done
exit $failed
