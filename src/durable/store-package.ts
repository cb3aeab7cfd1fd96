import { requireFile, resolvePackage, searchedFolders } from '../package-files.ts';
import { DurableStoreError } from './durable-error.ts';

/** Loads the package that a store needs. Throws DurableStoreError. */
export function loadPackage<Package>(store: string, name: string): Package {
  const file = resolvePackage(name);
  if (file !== undefined) return requireFile(file);
  const folders = searchedFolders().join(', ');
  const message = `${store} needs the package '${name}', which was not found from ${folders}: npm install ${name}`;
  throw new DurableStoreError('ERR_STORE_PACKAGE_MISSING', message);
}
