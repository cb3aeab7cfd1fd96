/** What is out of view is drawn with every so many samples: a screen reader reads it there. */
const OUT_OF_VIEW = 6;

interface Part<News> {
  readonly element: HTMLElement;
  readonly show: (news: News) => void;
  /** Samples from one drawing to the next. */
  readonly every: number;
  isInView: boolean;
  /** It has come into view. */
  isWanted: boolean;
}

/**
 * Parts of the page, each drawn with what is new while it is in view: with every sample, or with every other where a second
 * makes no difference that is seen. Most of what the page costs is drawing, and that goes by the area.
 */
export class PartsInView<News> {
  private readonly parts: Part<News>[] = [];
  private readonly observer: IntersectionObserver;
  private samples = 0;

  /** `changed`: called when parts have come into view, or gone. */
  constructor(changed: () => void) {
    this.observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) {
        for (const part of this.parts.filter(({ element }) => element === target)) {
          part.isWanted ||= isIntersecting && !part.isInView;
          part.isInView = isIntersecting;
        }
      }
      changed();
    });
  }

  add(element: HTMLElement, show: (news: News) => void, every = 1): void {
    this.parts.push({ element, show, every, isInView: false, isWanted: true });
    this.observer.observe(element);
  }

  /** There is another sample. */
  count(): void {
    this.samples += 1;
    for (const part of this.parts) part.isWanted ||= this.samples % (part.isInView ? part.every : OUT_OF_VIEW) === 0;
  }

  /** All, whatever they have shown. */
  renew(): void {
    for (const part of this.parts) part.isWanted = true;
  }

  show(news: News): void {
    for (const part of this.parts) {
      if (part.isWanted) part.show(news);
      part.isWanted = false;
    }
  }
}
