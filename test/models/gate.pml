/*
 * The protocol by which threads open an LMDB store and commit to it, from several processes and pid namespaces: the files in its folder
 * `gate`, docs/adr/0033-one-namespace-has-a-store.md.
 *
 *     open     note ─▶ nobody of another namespace? ─▶ I open ─▶ does no other? ─▶ is nobody busy? ─▶ is my note still there? ─▶ open
 *     commit   I am busy ─▶ does nobody open? ─▶ is my note still there? ─▶ commit ─▶ and now? ─▶ confirm ─▶ I am not busy
 *
 * LMDB loses what is committed while another opens the file. So nobody opens while one opens or commits, and no two namespaces have the
 * store; unless one stands still and counts as dead: what it commits then it does not confirm. Nobody waits for ever for what a dead thread
 * has left: no end state but those of threads that have closed, died or been refused. Up to TROUBLES deaths and standstills come at any step.
 *
 * What it leaves out: the folder's removal; the count of beats (a thread that stands still is silent, all others beat); threads whose fate
 * the kernel does not tell; limits of time; two that leave it to each other for ever, which chance ends; a standstill that begins after the
 * last look at the own note, within the engine's own opening of the file, or ends just as another removes the note for it.
 *
 * Steps and their functions:
 *   Thread: its note             src/extras/durable/table/lmdb-note.ts: says, isRemoved, close
 *   alone                        src/extras/durable/table/lmdb-gate.ts: aloneInNamespace, remove
 *   SILENT                       src/extras/durable/table/life-signs.ts: look
 *   telling, remove_folder       src/extras/durable/table/lmdb-gate.ts: tellsThatItOpens, isOpened, tellsNoMore
 *   busy_looked                  src/extras/durable/table/lmdb-gate.ts: opened, others, hasEnded
 *   opens, commits, confirm      src/extras/durable/table/lmdb-gate.ts: opened, committed, requireStore
 *   dead, FOREIGN                src/extras/durable/table/thread-identity.ts: fateOf, isForeign
 */
#define THREADS 3
#define TROUBLES 2

/* Thread 1 is of another pid namespace than the others. */
#define FOREIGN(i, j) ((i == 1) != (j == 1))
#define PEER(i, j) (i != j && !FOREIGN(i, j))

/* The files: a note of each thread, and one of each that opens, in a folder that goes with the last. */
mtype = { NO_NOTE, NEW, IDLE, BUSY };
mtype note[THREADS] = NO_NOTE;
bool opening[THREADS];
bool folder;

/* The truth: what each does with the engine; whether another opened the file while it committed. */
mtype = { OUT, OPENS, HAS, COMMITS };
mtype at[THREADS] = OUT;
bool lost[THREADS];

bool dead[THREADS], still[THREADS];
byte left = TROUBLES;

#define RUNS (!still[me])
#define SILENT(j) (dead[j] || still[j])
#define OPENS_BESIDE(i, j) (PEER(i, j) && opening[j] && !dead[j])
#define OTHER_OPENS (OPENS_BESIDE(me, 0) || OPENS_BESIDE(me, 1) || OPENS_BESIDE(me, 2))
#define NOTE_OF_FOREIGN(j) (FOREIGN(me, j) && note[j] != NO_NOTE)
#define FOREIGN_NOTES (NOTE_OF_FOREIGN(0) || NOTE_OF_FOREIGN(1) || NOTE_OF_FOREIGN(2))

inline remove(j) {
  note[j] = NO_NOTE;
  opening[j] = false
}

/* Writes into its own note, if that is still linked. */
inline says(what) {
  if
  :: note[me] != NO_NOTE -> note[me] = what
  :: else
  fi
}

/* Lists those who open, and removes what the dead have left. */
inline is_opened() {
  found = false;
  for (other : 0 .. THREADS - 1) {
    if
    :: PEER(me, other) && opening[other] && dead[other] -> remove(other)
    :: PEER(me, other) && opening[other] && !dead[other] -> found = true
    :: else
    fi
  };
  other = 0
}

inline remove_folder() {
  folder = folder && (opening[0] || opening[1] || opening[2])
}

inline begins_to_open() {
  for (other : 0 .. THREADS - 1) {
    if
    :: other != me && !dead[other] ->
      assert(at[other] != OPENS);
      assert(at[other] == OUT || !FOREIGN(me, other) || note[other] == NO_NOTE);
      assert(at[other] != COMMITS || note[other] == NO_NOTE);
      lost[other] = lost[other] || at[other] == COMMITS
    :: else
    fi
  };
  other = 0;
  at[me] = OPENS
}

inline begins_to_commit() {
  for (other : 0 .. THREADS - 1) {
    if
    :: other != me && !dead[other] && at[other] == OPENS ->
      assert(note[me] == NO_NOTE);
      lost[me] = true
    :: else
    fi
  };
  other = 0;
  at[me] = COMMITS
}

/* What one of another namespace shows who opens: it has been silent for long, or it has the store, or opens and comes first. */
#define SEEN_SILENT(j) (RUNS && NOTE_OF_FOREIGN(j) && SILENT(j))
#define SEEN_ALIVE(j) (RUNS && NOTE_OF_FOREIGN(j) && !SILENT(j) && (note[j] != NEW || j < me))

proctype Thread(byte me) {
  byte other;
  bool found;
  {
    atomic { RUNS -> note[me] = NEW };
alone:
    if
    :: atomic { RUNS && !FOREIGN_NOTES -> goto telling }
    :: atomic { SEEN_SILENT(0) -> remove(0); goto alone }
    :: atomic { SEEN_SILENT(1) -> remove(1); goto alone }
    :: atomic { SEEN_SILENT(2) -> remove(2); goto alone }
    :: atomic { SEEN_ALIVE(0) || SEEN_ALIVE(1) || SEEN_ALIVE(2) -> goto closed }
    fi;
telling:
    atomic { RUNS -> is_opened() };
    if
    :: atomic { found -> found = false; goto leave_it }
    :: atomic { !found }
    fi;
    atomic { RUNS -> folder = true };
    atomic { RUNS -> opening[me] = folder };
    atomic { RUNS -> is_opened() };
    if
    :: atomic { found || !opening[me] -> found = false }
    :: atomic { !found && opening[me] -> goto busy_looked }
    fi;
    atomic { RUNS -> opening[me] = false };
    atomic { RUNS -> remove_folder() };
leave_it:
    atomic { RUNS && !OTHER_OPENS -> goto telling };
busy_looked:
    do
    :: atomic { RUNS && other < THREADS && PEER(me, other) && dead[other] -> remove(other); other++ }
    :: atomic { RUNS && other < THREADS && !(PEER(me, other) && (dead[other] || note[other] == BUSY)) -> other++ }
    :: atomic { other == THREADS -> other = 0; break }
    od;
    atomic {
      RUNS ->
      if
      :: note[me] == NO_NOTE
      :: else -> begins_to_open()
      fi
    };
    atomic { RUNS -> at[me] = (at[me] == OPENS -> HAS : OUT) };
    atomic { RUNS -> says(IDLE) };
    atomic { RUNS -> opening[me] = false };
    atomic { RUNS -> remove_folder() };
    do
    :: atomic { RUNS && at[me] == HAS -> says(BUSY) };
       do
       :: atomic { RUNS -> is_opened() };
          if
          :: atomic { found -> found = false; says(IDLE) }
          :: atomic { !found -> break }
          fi;
          atomic { RUNS && !OTHER_OPENS };
          atomic { RUNS -> says(BUSY) }
       od;
       if
       :: atomic { RUNS && note[me] == NO_NOTE -> goto closed }
       :: atomic { RUNS && note[me] != NO_NOTE }
       fi;
       atomic { RUNS -> begins_to_commit() };
       atomic { RUNS -> at[me] = HAS };
       if
       :: atomic { RUNS && note[me] == NO_NOTE -> goto closed }
       :: atomic { RUNS && note[me] != NO_NOTE -> assert(!lost[me]) }
       fi;
       atomic { RUNS -> says(IDLE) }
    :: atomic { RUNS -> break }
    od;
closed:
    atomic { RUNS -> at[me] = OUT };
    atomic { RUNS -> note[me] = NO_NOTE };
    dead[me] = true
  } unless {
    atomic { dead[me] -> other = 0; found = false; lost[me] = false }
  }
}

#define DIE(i) atomic { left > 0 && !dead[i] && note[i] != NO_NOTE -> left--; dead[i] = true; still[i] = false; at[i] = OUT }
#define STAND_STILL(i) atomic { left > 0 && !dead[i] && !still[i] && at[i] != OPENS -> left--; still[i] = true }
#define GO_ON(i) atomic { still[i] -> still[i] = false }

proctype Troubles() {
end_fate:
  do
  :: DIE(0)
  :: DIE(1)
  :: DIE(2)
  :: STAND_STILL(0)
  :: STAND_STILL(1)
  :: STAND_STILL(2)
  :: GO_ON(0)
  :: GO_ON(1)
  :: GO_ON(2)
  od
}

init {
  atomic { run Thread(0); run Thread(1); run Thread(2); run Troubles() }
}
