// Takes the lock for writing of the store in the folder it is given, says so, and keeps it until it is killed.
import { open } from 'lmdb';

const root = open({ path: process.argv[2], maxDbs: 8 });
root.transactionSync(() => {
  process.stdout.write('held\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000);
});
