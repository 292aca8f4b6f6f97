import { useEffect, useState } from 'react';

/** Seconds since the order, so that waiting does not look dead. */
export const Elapsed = ({ sinceMs, what }: { readonly sinceMs: number; readonly what: string }) => (
  <p className="waiting small">
    <progress aria-label={`The ${what} is being created`} />
    <span>
      Creating … <Seconds sinceMs={sinceMs} />
    </span>
  </p>
);

/** Counts up. Default: since it is shown. Assistive technology does not read each second. */
export function Seconds({ sinceMs }: { readonly sinceMs?: number }) {
  const [shownMs] = useState(Date.now);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return <span aria-hidden="true">{Math.max(0, Math.round((now - (sinceMs ?? shownMs)) / 1000))} s</span>;
}
