/** A tool call that a person approves or denies: what it does, what it costs, and the answer. */
import words from './approvals.json' with { type: 'json' };
import type { Approval, ToolPart, Words } from './tool.tsx';

export type Approving = (approvalId: string, approved: boolean) => unknown;

interface ApprovalCardProps {
  readonly part: ToolPart;
  readonly approval: Approval;
  readonly named: Words;
  readonly price: string;
  readonly model: string;
  /** Absent: it cannot be answered now. */
  readonly approve: Approving | undefined;
}

export function ApprovalCard({ part, approval, named: [asks, , , , Icon], model, price, approve }: ApprovalCardProps) {
  const { id, state, credits } = approval;
  const isOfVideo = part.type === 'tool-generateVideo';
  const { duration } = Object(part.input);
  const length = isOfVideo && { duration: undefined, length: duration ? `${duration} s` : 'Set by the model' };
  return (
    <section className="tool approval" aria-label={state === 'asked' ? `${asks}?` : asks}>
      <p className="toolname">
        <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
        {state === 'asked' ? `${asks}?` : asks}
        {credits > 0 && <span className="quiet small">{price}</span>}
      </p>
      <Input of={{ ...Object(part.input), ...(model && { model }), ...length }} />
      {state !== 'asked' && <p className="quiet small">{words.notes[state]}</p>}
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

const namesOfFields: Readonly<Record<string, string>> = words.fields;

/** All of it, because it is what the user agrees to. */
function Input({ of }: { readonly of: object }) {
  const entries = Object.entries(of).filter(([, value]) => value !== null && value !== undefined);
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
