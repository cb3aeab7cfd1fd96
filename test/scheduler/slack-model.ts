/** The due tick of a deadline with slack, both in ms, after the definition: shares nothing with what it judges. */
export function dueTick(deadline: number, slack: number, tick: number, now = 0): number {
  const first = Math.ceil(deadline / tick);
  const last = first + Math.floor(slack / tick);
  let due = last;
  for (let granule = 1; granule <= 2 ** 40; granule *= 2) {
    const multiple = Math.ceil(first / granule) * granule;
    if (multiple <= last) due = multiple;
  }
  return Math.max(due, Math.floor(now / tick) + 1);
}
