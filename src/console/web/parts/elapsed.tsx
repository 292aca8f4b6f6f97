import { useEffect, useState } from 'react';

/** Seconds since the order, so that waiting does not look dead. */
export function Elapsed({ sinceMs, what }: { readonly sinceMs: number; readonly what: string }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((now - sinceMs) / 1000));
  return (
    <p className="waiting small">
      <progress aria-label={`The ${what} is being created`} />
      <span>Creating … {seconds} s</span>
    </p>
  );
}
