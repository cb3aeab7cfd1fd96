/*
 * The protocol by which clients give their lanes to the threads of a shard, and take them back: src/hosts, docs/adr/0004-one-host.md.
 *
 *     Owner: keeper + host 0 ──calls──▶ Thread 1, 2 ◀──messages── Client: host 1, with a second lane that it opens at any time
 *          └── board: nothing | epoch | clients ── told ──▶ look ──┘          Death ends threads before any of their steps
 *
 * Never two serve a lane: asserted wherever an index is made or admitted. No timer is lost: `known` says that what serves a lane has its
 * live timer filed, or finds it in stage or ring, or builds from the table. `settled`: again and again each lane is served, each live
 * timer is filed, and a client that is over has left nothing on a thread, all at once. Up to TROUBLES deaths, refusals of memory, lanes
 * asked back, and ends of owner or client come at any moment; then no more.
 *
 * What it leaves out: turns of a shard, firing and moving (lane.pml, timer.pml); the order of entries; the watchdog; more than two
 * clients, one timer a run, two threads and the surrender after them; pauses, which end at any time.
 *
 * Steps and their functions:
 *   attach_to, offer             src/hosts/lane-host.ts: attach, offer
 *   hand_over, look, stay        src/hosts/lane-host.ts: handOver, checkBoard, stay
 *   ask_back, taken_back         src/hosts/lane-host.ts: endThread
 *   pauses                       src/hosts/lane-host.ts: refused, pause
 *   opened, new_inline           src/hosts/lane-host.ts: open, newInline
 *   turn_here, serve_here, fail  src/hosts/inline-shard.ts: turn, build, fail, admit
 *   look after turn_here         src/hosts/inline-shard.ts: awaitCalm, isCalm
 *   Owner: start, enter, want    src/hosts/thread-keeper.ts: start, enter, want, died, handedBack, release
 *   note_death                   src/hosts/thread-keeper.ts: noteDeath, giveUp
 *   send                         src/hosts/mail-link.ts: call; src/hosts/shard-thread.ts: call
 *   Client: closed, toDetach     src/assembly/connect-client.ts: ownerEnded, leave
 *   Thread: attach, take         src/shard/lane-server.ts: attach, handOver, detach
 *   Thread: to != e              src/shard/lane-mail.ts: receiveCall
 * States of a host, as src/hosts/lane-state.ts names them: ATTACHED is offering, attached or refused, LEAVING leaving for good, RENEWING
 * leaving to be offered again. A host that is dying is in the state that it was in: its question has no answer.
 */
#define THREADS 3
#define TROUBLES 2

/* What the board's word says, or an epoch. */
#define NOTHING 0
#define CLIENTS 9

/* Sets of lanes. */
#define OWNERS 1
#define FIRST 2
#define SECOND 4
#define LANES_OF(c) (c == 0 -> OWNERS : FIRST + SECOND)
#define HEAD(c) (c == 0 -> OWNERS : FIRST)

/* From what an index is built; NO_LANE: the call does not name the lane. */
#define NO_LANE 0
#define FROM_NOTHING 1
#define FROM_TABLE 2
#define NO_ENTRY 3
#define ENTRY 4

mtype = { ATTACH, LEAVE, LEAVE_AND_RETURN, DETACH, REFUSED, LEFT, LEFT_TO_RETURN };

/* The board, and that no thread will serve again: the owner has closed, or its pulse is gone. */
byte board;
bool closed;
bool wanted;

/* Each lane has one timer, which never fires: whether it is live, and where its command is. The truth is `live`. */
byte live, staged, ring;
byte opened = OWNERS + FIRST;

/* The keeper. */
mtype = { NONE, STARTING, UP, PAUSING, GIVEN_UP, KEEPER_OVER };
mtype keeper = NONE;
byte started; /* the epoch of the latest thread */
bool booting, keeperWants, kept;

/* The hosts, by client. */
mtype = { INLINE, ATTACHED, LEAVING, RENEWING, WAITING, ALONE, OVER };
mtype state[2] = INLINE;
byte epoch[2];
bool wants[2];
bool pays[2] = true;
bool here[2] = true;
bool built[2];
byte filedHere;
byte originA[2] = FROM_NOTHING;
byte originB = FROM_NOTHING; /* of the second lane */
byte pauses; /* refusals that client 1 waits out, of its present epoch */
bool toDetach;
bool told; /* the board may have changed since client 1 looked */

/* The threads, by epoch. */
bool alive[THREADS + 1], doomed[THREADS + 1], listening[THREADS + 1], exited[THREADS + 1];
byte has[THREADS + 1], filed[THREADS + 1];
byte left = TROUBLES; /* deaths, refusals, lanes asked back, ends that may still come */
byte timed;

chan mail1 = [6] of { mtype, byte, byte, byte, byte }; /* call, client, epoch, origins */
chan mail2 = [6] of { mtype, byte, byte, byte, byte };
chan mail3 = [6] of { mtype, byte, byte, byte, byte };
chan answers0 = [4] of { mtype, byte, byte, byte };
chan answers1 = [4] of { mtype, byte, byte, byte };

#define ON_THREADS(l) (((has[1] & (l)) != 0) + ((has[2] & (l)) != 0) + ((has[3] & (l)) != 0))
#define ON_THREAD (has[1] | has[2] | has[3])

/* ---- Links ---- */

inline send_one(e, call, c, to, a, b) {
  if
  :: e == 1 -> assert(nfull(mail1)); mail1!call, c, to, a, b
  :: e == 2 -> assert(nfull(mail2)); mail2!call, c, to, a, b
  :: e == 3 -> assert(nfull(mail3)); mail3!call, c, to, a, b
  fi
}

/* The owner's goes to its thread, any other to every thread that listens. */
inline send(call, c, to, a, b) {
  if
  :: c == 0 ->
    if
    :: alive[to] && keeper == UP && started == to -> send_one(to, call, c, to, a, b)
    :: else
    fi
  :: else ->
    if
    :: listening[1] -> send_one(1, call, c, to, a, b)
    :: else
    fi;
    if
    :: listening[2] -> send_one(2, call, c, to, a, b)
    :: else
    fi;
    if
    :: listening[3] -> send_one(3, call, c, to, a, b)
    :: else
    fi
  fi
}

/* ---- Hosts ---- */

inline new_inline(c, a, b) {
  assert(!(ON_THREAD & opened & LANES_OF(c)));
  here[c] = true;
  built[c] = false;
  originA[c] = a;
  if
  :: c == 1 -> originB = b
  :: else
  fi;
  filedHere = filedHere & ~LANES_OF(c)
}

/* What is filed of one lane, from an origin; commands in the ring are skipped, or taken. */
inline serve_here(l, origin) {
  if
  :: origin == FROM_TABLE ->
    ring = ring & ~l;
    filedHere = filedHere | (live & l)
  :: origin == ENTRY -> filedHere = filedHere | l; ring = ring & ~l
  :: origin == NO_ENTRY -> filedHere = filedHere | (ring & l); ring = ring & ~l
  :: else
  fi
}

#define BUILT_FROM_NOTHING(c) (originA[c] == FROM_NOTHING && (c == 0 || !(opened & SECOND) || originB == FROM_NOTHING))
#define STAGED(c) ((staged & LANES_OF(c)) != 0)
#define TURN_DUE(c) (here[c] && (STAGED(c) || (!built[c] && !BUILT_FROM_NOTHING(c))))

inline fail(c) {
  left--;
  built[c] = false;
  filedHere = filedHere & ~LANES_OF(c)
}

/* A turn of the index; builds it first. Memory may be refused before each step. */
inline turn_here(c) {
  if
  :: !built[c] ->
    if
    :: left > 0 && c == 1 && (opened & SECOND) ->
      serve_here(HEAD(c), originA[c]);
      originA[c] = (originA[c] == FROM_NOTHING -> FROM_NOTHING : FROM_TABLE);
      fail(c)
    :: left > 0 -> fail(c)
    :: true ->
      serve_here(HEAD(c), originA[c]);
      originA[c] = FROM_TABLE;
      if
      :: c == 1 && (opened & SECOND) ->
        serve_here(SECOND, originB);
        originB = FROM_TABLE
      :: else
      fi;
      built[c] = true
    fi
  :: else
  fi;
  if
  :: built[c] ->
    if
    :: left > 0 ->
      if
      :: true -> staged = staged & ~LANES_OF(c) /* some steps later */
      :: true
      fi;
      fail(c)
    :: true ->
      filedHere = filedHere | (staged & LANES_OF(c));
      staged = staged & ~LANES_OF(c)
    fi
  :: else
  fi
}

/* If the message is refused, nobody has been asked. */
inline offer(c, a, b) {
  if
  :: c == 1 && left > 0 -> left--; pauses++
  :: true -> send(ATTACH, c, epoch[c], a, b)
  fi
}

inline attach_to(c, e, a, b) {
  epoch[c] = e;
  if
  :: c == 1 -> pauses = 0
  :: else
  fi;
  state[c] = ATTACHED;
  offer(c, a, b)
}

#define TABLE_B(c) (c == 1 && (opened & SECOND) -> FROM_TABLE : NO_LANE)

inline hand_over(c, e) {
  if
  :: built[c] && STAGED(c) -> skip /* after the turn that takes it */
  :: else ->
    here[c] = false;
    if
    :: built[c] ->
      originA[c] = (filedHere & HEAD(c) -> ENTRY : NO_ENTRY);
      if
      :: c == 1 && (opened & SECOND) -> originB = (filedHere & SECOND -> ENTRY : NO_ENTRY)
      :: else
      fi;
      built[c] = false;
      filedHere = filedHere & ~LANES_OF(c)
    :: else
    fi;
    /* the same thread may be attached to again, with an earlier refusal waited out */
    if
    :: epoch[c] != e && c == 1 -> pauses = 0
    :: else
    fi;
    epoch[c] = e;
    state[c] = ATTACHED;
    offer(c, originA[c], originB * (c == 1 && (opened & SECOND)));
    originA[c] = FROM_NOTHING;
    if
    :: c == 1 -> originB = FROM_NOTHING
    :: else
    fi
  fi
}

inline stay(c) {
  if
  :: state[c] != INLINE -> new_inline(c, FROM_TABLE, TABLE_B(c))
  :: else
  fi;
  state[c] = ALONE
}

#define IS_THREAD(server) (server != NOTHING && server != CLIENTS)
#define WITH_THREAD(c) (state[c] == ATTACHED || state[c] == LEAVING || state[c] == RENEWING)

inline look(c, server) {
  if
  :: WITH_THREAD(c) && server != epoch[c] -> state[c] = WAITING
  :: else
  fi;
  if
  :: state[c] == WAITING && IS_THREAD(server) -> attach_to(c, server, FROM_TABLE, TABLE_B(c))
  :: (state[c] == WAITING || state[c] == INLINE) && server == CLIENTS -> stay(c)
  :: state[c] == INLINE && IS_THREAD(server) && wants[c] -> hand_over(c, server)
  :: else
  fi
}

inline schedule(c, l) {
  live = live | (l);
  if
  :: here[c] -> staged = staged | (l)
  :: else -> ring = ring | (l)
  fi
}

inline publish(c) {
  ring = ring | (staged & LANES_OF(c));
  staged = staged & ~LANES_OF(c)
}

inline ask_back(c) {
  wants[c] = false;
  left--;
  if
  :: pays[c] -> pays[c] = false
  :: true
  fi;
  state[c] = LEAVING;
  send(LEAVE, c, epoch[c], NO_LANE, NO_LANE)
}

#define OR_TABLE(origin) ((origin) + ((origin) == NO_LANE) * FROM_TABLE)

inline taken_back(c, a, b) {
  new_inline(c, OR_TABLE(a), OR_TABLE(b));
  state[c] = INLINE
}

/* ---- The owner: the keeper of the threads, and client 0 ---- */

#define NAMED ((keeper == UP) * started + (keeper == GIVEN_UP) * CLIENTS)

inline enter(k) {
  keeper = k;
  look(0, NAMED);
  if
  :: board != NAMED -> board = NAMED; told = true
  :: else
  fi
}

inline want() {
  keeperWants = true;
  if
  :: keeper == NONE && started < 2 -> enter(STARTING)
  :: keeper == NONE && started == 2 -> enter(GIVEN_UP)
  :: else
  fi
}

inline start_thread_of_owner() {
  wants[0] = true;
  want();
  look(0, NAMED)
}

inline note_death() {
  if
  :: started < 2
  :: enter(GIVEN_UP)
  fi
}

proctype Owner() {
  byte e;
  mtype call;
  byte a, b;
end_owner:
  do
  /* The policy. */
  :: atomic { state[0] == INLINE && !wants[0] && (pays[0] || kept) -> start_thread_of_owner() }
  :: atomic { state[0] == ATTACHED && !kept && left > 0 -> ask_back(0) }
  :: atomic { wanted && !kept && keeper != KEEPER_OVER -> kept = true }
  /* The keeper. */
  :: atomic { keeper == STARTING && !booting && started < 2 ->
      started++;
      booting = true;
      alive[started] = true
    }
  :: atomic { keeper == STARTING && booting && listening[started] -> booting = false; enter(UP) }
  :: atomic { keeper == STARTING && booting && exited[started] -> exited[started] = false; booting = false; note_death() }
  :: atomic { keeper == UP && exited[started] -> exited[started] = false; enter(STARTING); note_death() }
  :: atomic { keeper == PAUSING && !doomed[started] && !exited[started] -> doomed[started] = true }
  :: atomic { keeper == PAUSING && exited[started] ->
      exited[started] = false;
      enter(NONE);
      if
      :: keeperWants -> want()
      :: else
      fi
    }
  /* The host. */
  :: atomic { answers0?call, e, a, b ->
      if
      :: e == epoch[0] && WITH_THREAD(0) && call == REFUSED -> doomed[e] = alive[e]
      :: e == epoch[0] && state[0] == LEAVING && call == LEFT ->
        taken_back(0, a, b);
        if
        :: keeper == UP -> keeperWants = false; enter(PAUSING)
        :: else
        fi
      :: else
      fi;
      e = 0; call = 0; a = 0; b = 0
    }
  :: atomic { timed == OWNERS && !live && state[0] != OVER -> schedule(0, OWNERS) }
  :: atomic { STAGED(0) && !here[0] && state[0] != OVER -> publish(0) }
  :: atomic { TURN_DUE(0) -> turn_here(0); 
      if
      :: wants[0] && state[0] == INLINE -> look(0, NAMED)
      :: else
      fi
    }
  /* Its end: closed, or its thread has ended. */
  :: atomic { left > 0 && state[0] != OVER ->
      left--;
      state[0] = OVER;
      here[0] = false;
      keeper = KEEPER_OVER;
      if
      :: board != NOTHING -> board = NOTHING; told = true
      :: true
      fi
    }
  :: atomic { keeper == KEEPER_OVER && alive[started] && !doomed[started] -> doomed[started] = true }
  :: atomic { keeper == KEEPER_OVER && !alive[started] && !closed -> closed = true; told = true }
  od
}

/* ---- Client 1, in another thread ---- */

proctype Client() {
  byte e, server;
  mtype call;
  byte a, b;
  bool looking;
end_client:
  do
  :: atomic { pays[1] && state[1] == INLINE && !wants[1] -> wants[1] = true; wanted = true; told = true }
  :: atomic { state[1] == ATTACHED && left > 0 -> ask_back(1) }
  :: atomic { told && !looking && state[1] != OVER -> told = false; looking = true; server = (closed -> CLIENTS : board) };
     atomic { looking = false; look(1, server); server = 0 }
  :: atomic { answers1?call, e, a, b ->
      if
      :: e != epoch[1] || !WITH_THREAD(1)
      :: e == epoch[1] && WITH_THREAD(1) && call == REFUSED && state[1] != RENEWING -> pauses++
      :: e == epoch[1] && WITH_THREAD(1) && call == LEFT && state[1] == LEAVING -> taken_back(1, a, b); told = true
      :: e == epoch[1] && WITH_THREAD(1) && call == LEFT_TO_RETURN && state[1] == RENEWING ->
        state[1] = ATTACHED;
        offer(1, FROM_TABLE, TABLE_B(1))
      :: else
      fi;
      e = 0; call = 0; a = 0; b = 0
    }
  :: atomic { pauses > 0 ->
      pauses--;
      if
      :: state[1] == ATTACHED ->
        state[1] = RENEWING;
        send(LEAVE_AND_RETURN, 1, epoch[1], NO_LANE, NO_LANE)
      :: else
      fi
    }
  :: atomic { timed != OWNERS && !(opened & SECOND) && state[1] != OVER ->
      opened = opened | SECOND;
      originB = FROM_NOTHING;
      if
      :: here[1] && built[1] -> 
        originB = FROM_TABLE
      :: state[1] == ATTACHED -> offer(1, NO_LANE, FROM_NOTHING)
      :: else
      fi
    }
  :: atomic { timed == FIRST && !live && state[1] != OVER -> schedule(1, FIRST) }
  :: atomic { timed == SECOND && !live && (opened & SECOND) && state[1] != OVER -> schedule(1, SECOND) }
  :: atomic { STAGED(1) && !here[1] && state[1] != OVER -> publish(1) }
  :: atomic { TURN_DUE(1) -> turn_here(1); told = told || (wants[1] && state[1] == INLINE) }
  :: atomic { left > 0 && state[1] != OVER ->
      left--;
      state[1] = OVER;
      here[1] = false;
      pauses = 0;
      told = false;
      toDetach = true
    }
  :: atomic { toDetach -> toDetach = false; send(DETACH, 1, 0, NO_LANE, NO_LANE) }
  od
}

/* ---- Threads ---- */

inline entry(l, origin) {
  origin = (has[e] & (l) -> (filed[e] & (l) -> ENTRY : NO_ENTRY) : NO_LANE)
}

inline take(c) {
  entry(HEAD(c), a);
  if
  :: c == 1 -> entry(SECOND, b)
  :: else -> b = NO_LANE
  fi;
  has[e] = has[e] & ~LANES_OF(c);
  filed[e] = filed[e] & ~LANES_OF(c)
}

inline answer(what) {
  if
  :: client == 0 -> assert(nfull(answers0)); answers0!what, e, a, b
  :: else -> assert(nfull(answers1)); answers1!what, e, a, b
  fi
}

inline skip_commands(l, origin) {
  if
  :: origin == FROM_TABLE -> ring = ring & ~(l)
  :: else
  fi
}

inline index_lane(l, origin) {
  if
  :: origin == FROM_TABLE -> gained = gained | (live & (l))
  :: origin == ENTRY -> gained = gained | (l)
  :: else
  fi
}

inline admit() {
  lanes = (a != NO_LANE -> HEAD(client) : 0) | (b != NO_LANE -> SECOND : 0);
  assert(to == e);
  assert(!(ON_THREAD & lanes));
  assert(!(here[client] && (lanes & opened)));
  has[e] = has[e] | lanes;
  filed[e] = filed[e] | gained
}

inline attach() {
  if
  :: left > 0 ->
    left--;
    skip_commands(HEAD(client), a);
    a = 0; b = 0;
    answer(REFUSED);
    rest()
  :: true -> skip_commands(HEAD(client), a); skip_commands(SECOND, b)
  fi
}

inline rest() {
  call = 0; client = 0; to = 0; a = 0; b = 0; gained = 0; lanes = 0
}

proctype Thread(byte e; chan mailOf) {
  mtype call;
  byte a, b;
  byte client, to, gained, lanes;
end_unborn:
  alive[e] ->
  {
    atomic { listening[e] = true };
end_serving:
    do
    :: atomic { mailOf?call, client, to, a, b ->
        if
        :: call == DETACH -> take(client); rest()
        :: call != DETACH && to != e -> rest()
        :: call == ATTACH && to == e -> attach()
        :: else -> take(client)
        fi
      };
      atomic {
        if
        :: call == ATTACH -> index_lane(HEAD(client), a); index_lane(SECOND, b); admit(); rest()
        :: call == LEAVE -> answer(LEFT); rest()
        :: call == LEAVE_AND_RETURN -> answer(LEFT_TO_RETURN); rest()
        :: else
        fi
      }
    :: atomic { has[e] & ring -> filed[e] = filed[e] | (has[e] & ring); ring = ring & ~has[e] }
    od
  } unless {
    atomic {
      !alive[e] ->
      do
      :: nempty(mailOf) -> mailOf?call, client, to, a, b
      :: empty(mailOf) -> break
      od;
      rest();
      listening[e] = false
    }
  }
}

inline die(e) {
  alive[e] = false;
  doomed[e] = false;
  listening[e] = false;
  has[e] = 0;
  filed[e] = 0;
  exited[e] = true
}

proctype Death() {
  byte e;
end_fate:
  do
  :: atomic { left > 0 && alive[1] && !doomed[1] -> left--; doomed[1] = true }
  :: atomic { left > 0 && alive[2] && !doomed[2] -> left--; doomed[2] = true }
  :: atomic { left > 0 && alive[3] && !doomed[3] -> left--; doomed[3] = true }
  :: atomic { left > 0 -> left = 0 }
  :: atomic { doomed[1] -> die(1) }
  :: atomic { doomed[2] -> die(2) }
  :: atomic { doomed[3] -> die(3) }
  od
}

init {
  atomic {
    if
    :: timed = OWNERS
    :: timed = FIRST
    :: timed = SECOND
    fi;
    run Owner(); run Client(); run Death();
    run Thread(1, mail1); run Thread(2, mail2); run Thread(3, mail3)
  }
}

#define SERVED(c, l) (state[c] == OVER || !(opened & (l)) || here[c] || (ON_THREAD & (l)))
#define FILED (filed[1] | filed[2] | filed[3] | filedHere)
#define KNOWN(c, l) (!(live & (l)) || ((staged | ring | FILED) & (l)) || (here[c] && !built[c]) || state[c] == OVER)
#define INDEXED(c, l) (state[c] == OVER || !(live & (l)) || (FILED & (l)))
#define SETTLED (SERVED(0, OWNERS) && SERVED(1, FIRST) && SERVED(1, SECOND) && INDEXED(0, OWNERS) && INDEXED(1, FIRST) && INDEXED(1, SECOND) && (state[1] != OVER || !(ON_THREAD & (FIRST + SECOND))))

ltl known { [] ((ON_THREAD & OWNERS || here[0] -> KNOWN(0, OWNERS)) && (ON_THREAD & FIRST || here[1] -> KNOWN(1, FIRST)) && (ON_THREAD & SECOND || here[1] -> KNOWN(1, SECOND))) }
ltl settled { [] <> SETTLED }
