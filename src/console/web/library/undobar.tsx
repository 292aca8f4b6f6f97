import { Undo2, X } from 'lucide-react';
import { dismissProblem, undoDeletion, useDeletions } from './deletions.ts';

/** Offers to undo the newest deletion, and shows why one failed. */
export function UndoBar() {
  const { pending, problem } = useDeletions();
  return (
    <div className="undobar" role="status">
      {pending && (
        <div className="undo">
          <span>{pending.label}</span>
          <button type="button" onClick={undoDeletion}>
            <Undo2 size={16} strokeWidth={1.75} aria-hidden="true" />
            Undo
          </button>
        </div>
      )}
      {!pending && problem && (
        <div className="undo problem">
          <span>{problem}</span>
          <button type="button" className="icon" aria-label="Dismiss" onClick={dismissProblem}>
            <X size={16} strokeWidth={1.75} aria-hidden="true" />
          </button>
        </div>
      )}
    </div>
  );
}
