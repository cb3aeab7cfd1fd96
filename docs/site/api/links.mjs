// Where each name is told, and how the page that is being written links to it.

/** The page and the heading of each name that has one. */
const places = new Map();

/** The anchors of each page's headings, as GitHub and the site make them; known once the page has been written for the first time. */
const anchors = new Map();

/** The page that is being written, and whose calls are meant first there: those of the class, or of what it implements. */
export const current = { page: '', owners: [] };

/** Else a link to `schedule` means the call of a scheduler. */
const OWNERS = ['Scheduler', 'TimerStarts'];

export function place(name, page, heading = name) {
  if (!places.has(name)) places.set(name, { page, heading });
}

export const isTold = (name) => places.has(name);

export function learnAnchors(page, text) {
  const ofPage = new Map();
  const slugs = [];
  for (const [, heading] of text.replace(/```[\s\S]*?```/g, '').matchAll(/^#+ (.*)$/gm)) {
    if (ofPage.has(heading)) throw new Error(`${page}.md has the heading ${heading} twice`);
    const slug = heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-');
    const earlier = slugs.filter((each) => each === slug).length;
    ofPage.set(heading, earlier === 0 ? slug : `${slug}-${earlier}`);
    slugs.push(slug);
  }
  anchors.set(page, ofPage);
}

/** A link to a heading; without a page, of the page that is being written. */
export function linkTo(heading, text = heading, page = current.page) {
  const anchor = anchors.get(page)?.get(heading);
  if (anchor === undefined && anchors.has(page)) throw new Error(`${page}.md has no heading ${heading}`);
  return `[\`${text}\`](${page === current.page ? '' : `${page}.md`}#${anchor})`;
}

/** `name` as a link to where it is told, if it is told anywhere. */
export function linked(name) {
  const call = name.split('.').at(-1);
  const found = [name, ...[...current.owners, ...OWNERS].map((owner) => `${owner}.${call}`)]
    .map((each) => places.get(each))
    .find((place) => place !== undefined && (anchors.get(place.page)?.has(place.heading) ?? true));
  return found === undefined ? `\`${name}\`` : linkTo(found.heading, name, found.page);
}

/** A document that a text names, with a heading or without, becomes a link. */
export const linkDocuments = (text) => text.replace(/(?<![\w/`])docs\/([\w-]+\.md)((?:#[\w-]+)?)/g, '[$1](../$1$2)');
