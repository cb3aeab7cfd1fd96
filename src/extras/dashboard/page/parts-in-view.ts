/** Samples from one drawing to the next: of what is in view, and of what is not, where a screen reader may read it. */
const IN_VIEW = 2;
const OUT_OF_VIEW = 6;

interface Part<News> {
  readonly element: HTMLElement;
  readonly show: (news: News) => void;
  isInView: boolean;
  /** It has come into view. */
  isWanted: boolean;
}

/**
 * Parts of the page, each drawn with what is new while it is in view. Most of what the page costs is drawing, by area.
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

  add(element: HTMLElement, show: (news: News) => void): void {
    this.parts.push({ element, show, isInView: false, isWanted: true });
    this.observer.observe(element);
  }

  /** There is another sample. */
  count(): void {
    this.samples += 1;
    for (const part of this.parts) part.isWanted ||= this.samples % (part.isInView ? IN_VIEW : OUT_OF_VIEW) === 0;
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
