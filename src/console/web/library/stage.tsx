import { ChevronLeft, ChevronRight } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { IconButton } from '../parts/iconbutton.tsx';

/** To those beside what is shown, where there are any. `place`: of what is shown, or -1. */
export function stepsIn<One>(all: readonly One[], place: number, show: (one: One) => void) {
  const stepTo = (one: One | undefined) => (one === undefined ? undefined : () => show(one));
  return { before: stepTo(all[place - 1]), after: stepTo(place < 0 ? undefined : all[place + 1]) };
}

export type Steps = ReturnType<typeof stepsIn>;

interface StageProps {
  readonly steps: Steps;
  /** A dialog is over it. */
  readonly isCovered?: boolean;
  readonly children: ReactNode;
}

/** The middle of the lightbox. Arrows lead to those beside what it shows. */
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
