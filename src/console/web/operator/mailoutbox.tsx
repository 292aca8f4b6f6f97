import { useState } from 'react';
import type { Mail, MailList } from '../../api.ts';
import { When } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, Pending } from '../parts/states.tsx';

export function Outbox() {
  const [chosen, setChosen] = useState<string>();
  const { data, error, refetch } = useRead<MailList>(['mails'], '/api/mails', { refetchInterval: 5000 });
  const opened = chosen ?? data?.mails[0]?.name;
  return (
    <>
      <p className="quiet">
        This installation stores emails as files in <code>outbox</code>, in its data folder. No email leaves this
        machine.
      </p>
      {data === undefined ? (
        <Pending error={error} retry={refetch} what="Reading the outbox" />
      ) : data.mails.length === 0 ? (
        <Empty title="The outbox is empty.">
          <p>
            <code>npm run demo</code> sends a notification.
          </p>
        </Empty>
      ) : (
        <div className="mails">
          <ul className="lines" aria-label="Emails">
            {data.mails.map(({ name, subject, to, sentAt }) => (
              <li key={name}>
                <button type="button" className="entry" aria-pressed={name === opened} onClick={() => setChosen(name)}>
                  <span className="strong">{subject}</span>
                  <span className="quiet">
                    {to.join(', ')} · <When at={sentAt} />
                  </span>
                </button>
              </li>
            ))}
            {data.total > data.mails.length && (
              <li className="quiet">{data.total - data.mails.length} older emails are not listed.</li>
            )}
          </ul>
          {opened && <Opened key={opened} name={opened} />}
        </div>
      )}
    </>
  );
}

function Opened({ name }: { readonly name: string }) {
  const { data, error, refetch } = useRead<Mail>(['mail', name], `/api/mails/${encodeURIComponent(name)}`);
  const [isText, setText] = useState(false);
  if (data === undefined) return <Pending error={error} retry={refetch} />;
  const showsHtml = data.hasHtml && !isText;
  return (
    <article className="card mail" aria-label={data.subject}>
      <div className="row">
        <h2>{data.subject}</h2>
        {data.hasHtml && (
          <button type="button" onClick={() => setText(!isText)}>
            {isText ? 'Show as a page' : 'Show as text'}
          </button>
        )}
      </div>
      <p className="quiet">
        From {data.from} to {data.to.join(', ')}
      </p>
      {showsHtml ? (
        <iframe title={`Email: ${data.subject}`} sandbox="" src={`/api/mails/${encodeURIComponent(name)}/html`} />
      ) : (
        <pre>{data.text}</pre>
      )}
      {data.attachments.length > 0 && <p className="quiet">Attached: {data.attachments.join(', ')}</p>}
    </article>
  );
}
