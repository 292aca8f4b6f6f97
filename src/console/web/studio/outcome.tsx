/** How a message ended that has no complete answer, and what the user can do next. */
import type { UIMessage } from 'ai';
import { CircleAlert, Plug, RotateCw, SquarePen } from 'lucide-react';
import { Link } from 'wouter';
import { AtelierError, ThreadBusy } from '../../../client/errors.ts';
import { isSignedOut } from '../calls.ts';
import { plainFailure } from '../create/order.ts';
import { plural } from '../parts/figures.tsx';
import { Button, icon } from '../parts/iconbutton.tsx';
import { SessionEnded } from '../parts/states.tsx';
import { useIsOnline } from '../shell/browser.ts';
import type { ModelChoice } from './account.ts';
import { useWithPrice } from './media.tsx';
import { newThreadId } from './threads.ts';

export type Outcome =
  | { readonly kind: 'completed' | 'stopped' | 'unanswered' }
  /** The run has failed. `credits`: what it cost, if that is known. */
  | { readonly kind: 'failed'; readonly message: string; readonly credits?: number | undefined }
  /** No run was started. The message is in the composer again. */
  | { readonly kind: 'refused'; readonly error: Error }
  /** The page has lost the stream. The run goes on. */
  | { readonly kind: 'lost' };

/** How a stored answer ended. The service writes it into the metadata of the message. */
export function storedOutcome({ role, metadata }: UIMessage): Outcome | undefined {
  const { status, error = '', credits } = Object(metadata) as { status?: string; error?: string; credits?: number };
  if (role === 'assistant' && status === 'failed') return { kind: 'failed', message: error, credits };
  return role === 'assistant' && status === 'aborted' ? { kind: 'stopped' } : undefined;
}

/** The same words at once and after a reload. */
export function explained({ message, credits }: Extract<Outcome, { kind: 'failed' }>): string {
  const cost = credits === 0 ? 'No credits were taken.' : credits ? `${plural(credits, 'credit')} charged.` : '';
  return `The answer failed. ${plainFailure(message)} ${cost}`;
}

interface OutcomeNoteProps {
  readonly outcome: Outcome;
  readonly modelChoice: ModelChoice;
  readonly onAnswerAgain: () => void;
  readonly onReconnect: () => void;
}

export function OutcomeNote({ outcome, modelChoice, onAnswerAgain, onReconnect }: OutcomeNoteProps) {
  const text = useWithPrice()('Try again');
  const again = <Button Icon={RotateCw} text={text} disabled={!useIsOnline()} onClick={onAnswerAgain} />;
  if (outcome.kind === 'completed') return null;
  if (outcome.kind === 'stopped' || outcome.kind === 'unanswered')
    return (
      <p className="quiet small ended">
        {outcome.kind === 'stopped' ? 'You stopped this answer.' : 'This message has no answer.'}
        {again}
      </p>
    );
  return (
    <div className="outcome" role="alert">
      <CircleAlert {...icon} />
      {outcome.kind === 'failed' && (
        <>
          <p>{explained(outcome)}</p>
          {again}
        </>
      )}
      {outcome.kind === 'lost' && (
        <>
          <p>The connection was lost. The answer may continue without this page.</p>
          <Button Icon={Plug} text="Reconnect" onClick={onReconnect} />
        </>
      )}
      {outcome.kind === 'refused' && <Refusal error={outcome.error} modelChoice={modelChoice} />}
    </div>
  );
}

function Refusal({ error, modelChoice }: { readonly error: Error; readonly modelChoice: ModelChoice }) {
  if (isSignedOut(error))
    return <SessionEnded>The message was not sent. It is below, ready to send again.</SessionEnded>;
  const code = error instanceof AtelierError ? error.code : 'unreachable';
  const body = error instanceof AtelierError ? error.body : {};
  if (code === 'insufficient_credits') {
    const affordable = modelChoice.models.find(
      ({ allowed, credits }) => allowed && credits <= Number(body.balance ?? 0) && credits < Number(body.required ?? 0),
    );
    return (
      <>
        <p>
          You have {String(body.balance ?? 'too few')} credits, and this message costs {String(body.required ?? 'more')}
          . It was not sent. {affordable ? '' : 'An operator can add credits.'}
        </p>
        {affordable && (
          <button type="button" onClick={() => modelChoice.choose(affordable.id)}>
            Use {affordable.label}
          </button>
        )}
      </>
    );
  }
  if (code === 'thread_full')
    return (
      <>
        <p>This conversation is full. The message was not sent. Continue in a new conversation.</p>
        <Link className="button" href={`/studio/${newThreadId()}`}>
          <SquarePen {...icon} /> New conversation
        </Link>
      </>
    );
  if (error instanceof ThreadBusy)
    return <p>This conversation already has an answer in progress. Your message is below, ready to send after it.</p>;
  if (code === 'approval_answered') return <p>This was answered in another window.</p>;
  if (code === 'unreachable' || code === 'timeout')
    return <p>The service cannot be reached. The message was not sent. It is below, ready to send again.</p>;
  return <p>{error.message} The message was not sent.</p>;
}
