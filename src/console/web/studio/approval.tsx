/** A tool call that a person approves or denies: what it does, what it costs, and the answer. */
import type { UIMessage } from 'ai';
import { creditsOf } from './account.ts';
import { type ToolPart, wordsOf } from './tool.tsx';
import './waiting.css';

export type Approving = (approvalId: string, approved: boolean) => unknown;

export interface Approval {
  readonly id: string;
  readonly state: 'asked' | 'approved' | 'denied';
  /** Of the call, once it is carried out. */
  readonly credits: number;
}

/** `undefined`: the call needs no answer, or was carried out. */
export function approvalOf(part: ToolPart, parts: readonly UIMessage['parts'][number][]): Approval | undefined {
  const id: unknown = Reflect.get(Object(part.approval), 'id');
  if (typeof id !== 'string') return undefined;
  const price: unknown = parts
    .filter(({ type }) => type === 'data-approval')
    .map((other) => ('data' in other ? Object(other.data) : {}))
    .find(({ approvalId }) => approvalId === id)?.credits;
  const credits = typeof price === 'number' ? price : 0;
  if (part.state === 'approval-requested') return { id, credits, state: 'asked' };
  if (part.state === 'output-denied') return { id, credits, state: 'denied' };
  if (part.state !== 'approval-responded') return undefined;
  return { id, credits, state: Reflect.get(Object(part.approval), 'approved') === true ? 'approved' : 'denied' };
}

const notes = { asked: undefined, approved: 'Approved', denied: 'Not carried out: it was denied.' } as const;

interface ApprovalCardProps {
  readonly part: ToolPart;
  readonly approval: Approval;
  /** Absent: it cannot be answered now. */
  readonly approve: Approving | undefined;
}

export function ApprovalCard({ part, approval: { id, state, credits }, approve }: ApprovalCardProps) {
  const [asks, , , , Icon] = wordsOf(part);
  const note = notes[state];
  return (
    <section className="tool approval" aria-label={state === 'asked' ? `${asks}?` : asks}>
      <p className="toolname">
        <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
        {state === 'asked' ? `${asks}?` : asks}
        {credits > 0 && <span className="quiet small">{creditsOf(credits)}</span>}
      </p>
      <Input of={part.input} />
      {note !== undefined && <p className="quiet small">{note}</p>}
      {state === 'asked' && (
        <div className="row">
          <button type="button" className="primary" disabled={!approve} onClick={() => approve?.(id, true)}>
            Approve
          </button>
          <button type="button" disabled={!approve} onClick={() => approve?.(id, false)}>
            Deny
          </button>
        </div>
      )}
    </section>
  );
}

const namesOfFields: Readonly<Record<string, string>> = { prompt: 'Prompt', n: 'Images', ratio: 'Ratio' };

/** All of it, because it is what the user agrees to. */
function Input({ of }: { readonly of: unknown }) {
  const entries = Object.entries(Object(of)).filter(([, value]) => value !== null && value !== undefined);
  if (entries.length === 0) return null;
  return (
    <dl className="input small">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt className="quiet">{namesOfFields[name] ?? name.replaceAll('_', ' ')}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
