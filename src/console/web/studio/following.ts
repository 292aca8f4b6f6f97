import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

const nearPx = 48;

export interface Following {
  readonly view: RefObject<HTMLElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  readonly isFollowing: boolean;
  /** Scrolls to the end, and follows from then on. */
  readonly follow: () => void;
}

/** Keeps the end in view while the content grows, until the reader scrolls up. */
export function useFollowing(): Following {
  const view = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [isFollowing, setFollowing] = useState(true);

  const set = useCallback((next: boolean) => {
    follows.current = next;
    setFollowing(next);
  }, []);

  useEffect(() => {
    const box = view.current;
    if (box === null || content.current === null) return;
    let top = box.scrollTop;
    const onScroll = () => {
      const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < nearPx;
      // Growth of the content does not move the view, so a smaller offset is the reader's.
      if (isAtEnd) set(true);
      else if (box.scrollTop < top) set(false);
      top = box.scrollTop;
    };
    const observer = new ResizeObserver(() => {
      if (follows.current) box.scrollTop = box.scrollHeight;
    });
    observer.observe(content.current);
    observer.observe(box);
    box.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', onScroll);
    };
  }, [set]);

  const follow = useCallback(() => {
    set(true);
    const box = view.current;
    if (box !== null) box.scrollTop = box.scrollHeight;
  }, [set]);

  return { view, content, isFollowing, follow };
}
