/** One run: its record, its trace, and its stream. */
import { useMutation } from '@tanstack/react-query';
import { ArrowLeft } from 'lucide-react';
import { Link } from 'wouter';
import type { Replay, ShownRun } from '../../runs/api.ts';
import { callJson } from '../calls.ts';
import { countOf, momentOf } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, Failure, Pending, Status } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import { PersonLink } from './personlink.tsx';
import { Failed, runTones } from './record.tsx';
import { moneyOf, tookOf } from './units.ts';

export function RunPage({ taskId }: { readonly taskId: string }) {
  const { data, error, refetch } = useRead<ShownRun>(['run', taskId], `/api/runs/${encodeURIComponent(taskId)}`);
  return (
    <>
      <p className="desk-back">
        <Link href="/operator/runs">
          <ArrowLeft size={16} strokeWidth={1.75} aria-hidden="true" /> All runs
        </Link>
      </p>
      {data === undefined ? <Pending error={error} retry={refetch} what="Reading the run" /> : <Details run={data} />}
    </>
  );
}

const unknown = <span className="quiet">not known</span>;
const numberOf = (value: number | null) => (value === null ? unknown : countOf(value));

function Details({ run }: { readonly run: ShownRun }) {
  const { status, endedAt, costUsd, tools, requestId, traceId, traceUrl } = run;
  return (
    <div className="stack">
      <header className="page desk-head">
        <div>
          <h1>Run of {run.model}</h1>
          <p className="quiet">
            <PersonLink id={run.userId} />, {momentOf(run.createdAt)}
          </p>
        </div>
        <Status tone={runTones[status]}>{status}</Status>
      </header>
      <Failed error={run.error} answer={run.answer} />
      <section className="card" aria-label="Record">
        <Pairs
          of={{
            Took: endedAt === null ? 'not over' : tookOf(run.createdAt, endedAt),
            Steps: numberOf(run.steps),
            Tools: tools.length === 0 ? 'none' : tools.join(', '),
            'Tokens in': numberOf(run.inputTokens),
            'Tokens out': numberOf(run.outputTokens),
            Credits: numberOf(run.credits),
            Cost: costUsd === null ? unknown : moneyOf(costUsd),
            ...(run.answeredBy !== null && { 'Answered by': run.answeredBy }),
            ...(run.errorCode !== null && { Code: run.errorCode }),
            ...(run.restarts > 0 && { Continued: countOf(run.restarts) }),
            'Request id': requestId === null ? unknown : <code>{requestId}</code>,
            'Trace id':
              traceId === null ? (
                unknown
              ) : traceUrl === null ? (
                <code>{traceId}</code>
              ) : (
                <a href={traceUrl} target="_blank" rel="noreferrer">
                  {traceId}
                </a>
              ),
          }}
        />
      </section>
      {endedAt !== null && <Stream taskId={run.taskId} />}
    </div>
  );
}

function Stream({ taskId }: { readonly taskId: string }) {
  const reading = useMutation({ mutationFn: () => callJson<Replay>(`/api/runs/${encodeURIComponent(taskId)}/events`) });
  const replay = reading.data;
  return (
    <section aria-labelledby="stream">
      <div className="row">
        <h2 id="stream">Stream</h2>
        {replay === undefined && (
          <button type="button" disabled={reading.isPending} onClick={() => reading.mutate()}>
            {reading.isPending ? 'Reading …' : 'Read the stream'}
          </button>
        )}
      </div>
      {replay === undefined && (
        <p className="quiet">The stream contains the conversation. The audit log records that you read it.</p>
      )}
      {reading.error && <Failure error={reading.error} />}
      {replay?.events.length === 0 && <Empty title="The stream is no longer stored." />}
      {replay !== undefined && replay.events.length > 0 && (
        <ol className="lines" aria-label="Events of the stream">
          {replay.events.map(({ id, type, pieces, text }) => (
            <li key={id}>
              <div className="desk-line">
                <span className="strong">{type}</span>
                <span className="quiet desk-figure">{pieces > 1 && `${countOf(pieces)} pieces`}</span>
              </div>
              {text !== '' && <pre className="wrapped record-answer">{text}</pre>}
            </li>
          ))}
        </ol>
      )}
      {replay?.isCut && <p className="quiet">Only the first 1,000 events are shown.</p>}
    </section>
  );
}
