/** One image or video in the whole window, and the ways to those beside it. */
import './lightbox.css';
import { ChevronLeft, ChevronRight, X, ZoomIn, ZoomOut } from 'lucide-react';
import { type PointerEvent, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { IconButton } from '../parts/iconbutton.tsx';
import { useModal } from '../shell/modal.ts';

/** To those beside what is shown, where there are any. `place`: of what is shown, or -1. */
export function stepsIn<One>(all: readonly One[], place: number, show: (one: One) => void) {
  const stepTo = (one: One | undefined) => (one === undefined ? undefined : () => show(one));
  return { before: stepTo(all[place - 1]), after: stepTo(place < 0 ? undefined : all[place + 1]) };
}

export type Steps = ReturnType<typeof stepsIn>;

interface ViewerProps {
  readonly label: string;
  /** Beside the button that closes it. */
  readonly top: ReactNode;
  /** There are details beside the stage. */
  readonly hasAside: boolean;
  readonly onClose: () => void;
  /** For Escape. Default: as `onClose`. */
  readonly onCancel?: () => void;
  readonly children: ReactNode;
}

/** Covers the window. It has its own URL, so the Back button closes it. */
export function Viewer({ label, top, hasAside, onClose, onCancel = onClose, children }: ViewerProps) {
  return (
    <dialog
      ref={useModal()}
      className={`lightbox ${hasAside ? 'withfacts' : ''}`}
      aria-label={label}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return; // A dialog of the content was canceled.
        event.preventDefault();
        onCancel();
      }}
    >
      <div className="top">
        <IconButton label="Close" Icon={X} size={20} onClick={onClose} />
        {top}
      </div>
      {children}
    </dialog>
  );
}

interface FilmProps {
  readonly url: string | undefined;
  readonly poster: string | undefined;
  readonly label: string;
}

/** Videos have no speech, so there is nothing to caption. */
export const Film = ({ url, poster, label }: FilmProps) => (
  <video
    controls
    autoPlay={!matchMedia('(prefers-reduced-motion: reduce)').matches}
    muted
    loop
    playsInline
    src={url}
    poster={poster}
    aria-label={label}
  />
);

interface StageProps {
  readonly steps: Steps;
  /** A dialog is over it. */
  readonly isCovered?: boolean;
  readonly children: ReactNode;
}

/** Arrows lead to those beside what it shows. */
export function Stage({ steps: { before, after }, isCovered = false, children }: StageProps) {
  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      if (isCovered || target instanceof HTMLVideoElement || target instanceof HTMLInputElement) return;
      if (key === 'ArrowLeft') before?.();
      if (key === 'ArrowRight') after?.();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  return (
    <div className="stage">
      {children}
      {before && <IconButton className="step before" label="Previous" Icon={ChevronLeft} size={20} onClick={before} />}
      {after && <IconButton className="step after" label="Next" Icon={ChevronRight} size={20} onClick={after} />}
    </div>
  );
}

const most = 8;
const swipePixels = 60;

interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

const whole: View = { scale: 1, x: 0, y: 0 };

interface ZoomableProps {
  readonly children: ReactNode;
  /** Of the original, which may have more than the image that is shown. */
  readonly pixels: number | null;
  readonly steps: Steps;
}

/** Zoom with the wheel, two fingers, the keys + - 0 or a double click; pan by dragging; swipe to the next one. */
export function Zoomable({ children, pixels, steps }: ZoomableProps) {
  const [view, setView] = useState(whole);
  const box = useRef<HTMLDivElement>(null);
  const fingers = useRef(new Map<number, { x: number; y: number }>());
  const began = useRef({ x: 0, y: 0, distance: 0, view: whole });

  const zoom = useCallback((factor: number, at?: { readonly x: number; readonly y: number }) => {
    const rect = box.current?.getBoundingClientRect();
    setView((old) => {
      const scale = Math.min(Math.max(old.scale * factor, 1), most);
      if (scale === 1 || rect === undefined) return whole;
      // The point below the pointer stays where it is.
      const from =
        at === undefined ? { x: 0, y: 0 } : { x: at.x - rect.x - rect.width / 2, y: at.y - rect.y - rect.height / 2 };
      const grown = scale / old.scale;
      return bounded({ scale, x: from.x - (from.x - old.x) * grown, y: from.y - (from.y - old.y) * grown }, rect);
    });
  }, []);

  useEffect(() => {
    const listening = new AbortController();
    // React's wheel events are passive, and the page must not scroll.
    box.current?.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        zoom(Math.exp(-event.deltaY / 300), event);
      },
      { passive: false, signal: listening.signal },
    );
    addEventListener(
      'keydown',
      ({ key, target }) => {
        if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) return;
        if (key === '+' || key === '=') zoom(1.5);
        if (key === '-') zoom(1 / 1.5);
        if (key === '0') setView(whole);
      },
      { signal: listening.signal },
    );
    return () => listening.abort();
  }, [zoom]);

  function begin(): void {
    const [one, two] = [...fingers.current.values()];
    if (one) began.current = { ...one, distance: two ? Math.hypot(one.x - two.x, one.y - two.y) : 0, view };
  }

  function move(event: PointerEvent): void {
    if (!fingers.current.has(event.pointerId)) return;
    fingers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const [one, two] = [...fingers.current.values()];
    const rect = box.current?.getBoundingClientRect();
    if (one === undefined || rect === undefined) return;
    const { x, y, distance, view: before } = began.current;
    if (two !== undefined && distance > 0) {
      const scale = Math.min(Math.max((before.scale * Math.hypot(one.x - two.x, one.y - two.y)) / distance, 1), most);
      setView(bounded({ ...before, scale }, rect));
    } else if (before.scale > 1) {
      setView(bounded({ scale: before.scale, x: before.x + one.x - x, y: before.y + one.y - y }, rect));
    }
  }

  function end(event: PointerEvent): void {
    const isLast = fingers.current.delete(event.pointerId) && fingers.current.size === 0;
    const { x, distance, view: before } = began.current;
    const moved = event.clientX - x;
    if (isLast && before.scale === 1 && distance === 0 && Math.abs(moved) > swipePixels)
      (moved < 0 ? steps.after : steps.before)?.();
    else begin();
  }

  const image = box.current?.querySelector('img');
  // The whole image is as wide as its ratio allows in its box.
  const shown = image && Math.min(image.offsetWidth, (image.offsetHeight * image.naturalWidth) / image.naturalHeight);
  const percent = Math.round((100 * view.scale * (shown ?? 0)) / (pixels ?? image?.naturalWidth ?? 1));
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys + - and 0 do the same. */}
      <div
        ref={box}
        className={`zoomable ${view.scale > 1 ? 'near' : ''}`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          fingers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
          begin();
        }}
        onPointerMove={move}
        onPointerUp={end}
        onPointerCancel={end}
        onDoubleClick={(event) => (view.scale > 1 ? setView(whole) : zoom(2.5, { x: event.clientX, y: event.clientY }))}
      >
        <div className="zoomed" style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}>
          {children}
        </div>
      </div>
      <fieldset className="zooming" aria-label="Zoom">
        <IconButton label="Zoom out" Icon={ZoomOut} disabled={view.scale === 1} onClick={() => zoom(1 / 1.5)} />
        <button type="button" className="plain" title="Show the whole image" onClick={() => setView(whole)}>
          {view.scale === 1 ? 'Fit' : `${percent}%`}
        </button>
        <IconButton label="Zoom in" Icon={ZoomIn} disabled={view.scale === most} onClick={() => zoom(1.5)} />
      </fieldset>
    </>
  );
}

/** The image cannot be dragged out of its box. */
function bounded({ scale, x, y }: View, { width, height }: { readonly width: number; readonly height: number }): View {
  const [right, down] = [(width * (scale - 1)) / 2, (height * (scale - 1)) / 2];
  return { scale, x: Math.min(Math.max(x, -right), right), y: Math.min(Math.max(y, -down), down) };
}
