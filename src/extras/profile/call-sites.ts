import { findSourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { process } from '../../process.ts';
import type { SiteCounts } from './profile-data.ts';

/** Frames that are read; a package that wraps timers more deeply counts as the place itself. */
const FRAMES = 12;
const MAX_SITES = 500;
/** Places whose names are kept: finding one takes as long as walking the stack. */
const MAX_PLACES = 2000;

/** The sampled timers of one place; each sample counts for the number of calls that it represents. */
export interface Site extends Omit<SiteCounts, 'delay'> {
  /** Samples by delay in ms. */
  readonly delays: Map<number, number>;
}

const MAX_DELAYS = 32;

/** The places that created sampled timers. */
export class CallSites {
  private readonly sites = new Map<string, Site>();
  samples = 0;

  /** The site of the call of `entered`, one of our functions. About 5 µs. */
  sample(entered: (...given: never[]) => unknown, delay: number, weight: number): Site {
    const found = this.siteOf(framesAbove(entered));
    this.samples += 1;
    found.samples += 1;
    found.created += weight;
    if (found.delays.size < MAX_DELAYS || found.delays.has(delay)) {
      found.delays.set(delay, (found.delays.get(delay) ?? 0) + 1);
    }
    return found;
  }

  private siteOf(frames: readonly NodeJS.CallSite[]): Site {
    const [site, name] = placeOf(frames[0]);
    const outside = frames.find((frame) => !fileOf(frame).includes('/node_modules/'));
    const [from] = outside === undefined || outside === frames[0] ? [''] : placeOf(outside);
    const key = `${site}\n${from}`;
    const isOneMore = this.sites.size >= MAX_SITES && !this.sites.has(key);
    return isOneMore ? this.named('elsewhere', 'elsewhere', '', '') : this.named(key, site, name, from);
  }

  private named(key: string, site: string, name: string, from: string): Site {
    const counts = { samples: 0, created: 0, cleared: 0, refreshed: 0, fired: 0 };
    const found = this.sites.get(key) ?? { site, name, from, ...counts, delays: new Map() };
    this.sites.set(key, found);
    return found;
  }

  commonest(): Site[] {
    return [...this.sites.values()].sort((one, other) => other.created - one.created);
  }
}

const collect = (_: Error, frames: NodeJS.CallSite[]): NodeJS.CallSite[] => frames;

/**
 * The call sites above a function, without Node's own. A program's own `prepareStackTrace` is not called. Throws where
 * the program has replaced parts of Error by what throws; Error is then as it was before.
 */
function framesAbove(entered: (...given: never[]) => unknown): NodeJS.CallSite[] {
  const { stackTraceLimit, prepareStackTrace } = Error;
  const traced: { stack?: unknown } = {};
  let frames: unknown;
  // Not by assignment: if the program has frozen Error, that throws, and the program's own function would be called.
  if (!Reflect.set(Error, 'prepareStackTrace', collect)) return [];
  try {
    Reflect.set(Error, 'stackTraceLimit', FRAMES);
    Error.captureStackTrace(traced, entered);
    frames = traced.stack; // computed when it is read
  } finally {
    Reflect.set(Error, 'prepareStackTrace', prepareStackTrace);
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
  }
  if (!Array.isArray(frames)) return [];
  return (frames as NodeJS.CallSite[]).filter((frame) => {
    const file = frame.getFileName();
    return file != null && file !== '' && !file.startsWith('node:');
  });
}

const fileOf = (frame: NodeJS.CallSite): string => frame.getFileName() ?? '';

type Place = [place: string, name: string];

const places = new Map<string, Place>();

function placeOf(frame: NodeJS.CallSite | undefined): Place {
  if (frame === undefined) return ["Node's own code", ''];
  const file = fileOf(frame);
  const line = frame.getLineNumber() ?? 0;
  const column = frame.getColumnNumber() ?? 1;
  const key = `${file}:${line}:${column}`;
  const known = places.get(key);
  if (known !== undefined) return known;
  const found: Place = [placeAt(file, line, column), frame.getFunctionName() ?? ''];
  if (places.size < MAX_PLACES) places.set(key, found);
  return found;
}

/** `file:line`, relative to the working folder at the start if it is inside. Follows source maps where Node does. */
function placeAt(file: string, line: number, column: number): string {
  const origin = findSourceMap(file)?.findOrigin(line, column);
  const source = origin !== undefined && 'fileName' in origin ? origin : { fileName: file, lineNumber: line };
  return `${shortened(source.fileName)}:${source.lineNumber}`;
}

/** The program's working folder, with a slash, as the recording begins: it may leave it, or remove it. */
const startFolder = folderAtStart();

function folderAtStart(): string | undefined {
  try {
    return `${process.cwd()}/`;
  } catch {
    return undefined; // it is gone
  }
}

function shortened(file: string): string {
  let path = file;
  try {
    if (file.startsWith('file:')) path = fileURLToPath(file);
  } catch {
    return file; // a URL of another machine: shown unchanged
  }
  return startFolder !== undefined && path.startsWith(startFolder) ? path.slice(startFolder.length) : path;
}
