/** Messages that wait for the answer in progress. */
import type { UIMessage } from 'ai';
import { Undo2 } from 'lucide-react';
import { IconButton } from '../parts/iconbutton.tsx';
import { Problem } from '../parts/states.tsx';
import type { QueuedMessage } from './chat.ts';
import { textOfMessage } from './message.tsx';
import './waiting.css';

export function QueuedMessages({
  queued,
  problem,
  isBusy,
  onRemove,
}: {
  readonly queued: readonly QueuedMessage[];
  readonly problem: Error | null;
  readonly isBusy: boolean;
  /** Removes it from the queue. Its text returns to the composer. */
  readonly onRemove: (message: QueuedMessage) => void;
}) {
  if (queued.length === 0) return null;
  return (
    <>
      <ul className="queued" aria-label="Queued messages">
        {queued.map((each) => {
          const text = textOfMessage({ parts: each.message.parts as UIMessage['parts'] });
          return (
            <li key={each.taskId}>
              <span className="quiet small">Next</span>
              <span className="cut">{text || 'Files'}</span>
              <IconButton
                label={`Remove from the queue: ${text}`}
                title="Remove from the queue"
                Icon={Undo2}
                disabled={isBusy}
                onClick={() => onRemove(each)}
              />
            </li>
          );
        })}
      </ul>
      <Problem of={problem} />
    </>
  );
}
