import { Check, Copy } from 'lucide-react';
import { useState } from 'react';

export function CopyButton({ label, read }: { readonly label: string; readonly read: () => string }) {
  const [isCopied, setCopied] = useState(false);
  const Icon = isCopied ? Check : Copy;
  return (
    <button
      type="button"
      className="plain icon copy"
      aria-label={isCopied ? 'Copied' : label}
      title={isCopied ? 'Copied' : label}
      onClick={async () => {
        await navigator.clipboard.writeText(read());
        setCopied(true);
        setTimeout(() => setCopied(false), 2000);
      }}
    >
      <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
    </button>
  );
}
