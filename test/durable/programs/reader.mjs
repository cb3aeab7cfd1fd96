// Takes the only place for a reader that the store in the folder it is given has, says so, and keeps it until it is
// killed.
import { open } from 'lmdb';

const root = open({ path: process.argv[2], noSubdir: false, maxReaders: 1 });
root.get('anything');
root.useReadTransaction();
process.stdout.write('held\n');
setTimeout(() => undefined, 30_000);
