import { requireFile, resolvePackage, searchedFolders } from '../../package-files.ts';
import { messageOf } from '../../show.ts';
import { DurableStoreError } from './durable-error.ts';

/** Loads the package that a store needs. Throws DurableStoreError. */
export function loadPackage<Package>(store: string, name: string): Package {
  const file = resolvePackage(name);
  if (file === undefined) {
    const folders = searchedFolders().join(', ');
    const message = `${store} needs the package '${name}', which was not found from ${folders}: npm install ${name}`;
    throw new DurableStoreError('ERR_STORE_PACKAGE_MISSING', message);
  }
  try {
    return requireFile(file);
  } catch (cause) {
    const message = `${store} needs the package '${name}', which cannot be loaded from ${file}: ${messageOf(cause)}`;
    throw new DurableStoreError('ERR_STORE_PACKAGE_FAILED', message, { cause });
  }
}
