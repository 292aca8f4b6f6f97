import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../parts/iconbutton.tsx';

export function CopyButton({ label, read }: { readonly label: string; readonly read: () => string }) {
  const [isCopied, setCopied] = useState(false);
  const Icon = isCopied ? Check : Copy;
  return (
    <IconButton
      label={isCopied ? 'Copied' : label}
      Icon={Icon}
      className="plain icon copy"
      onClick={async () => {
        await navigator.clipboard.writeText(read());
        setCopied(true);
        setTimeout(() => setCopied(false), 2000);
      }}
    />
  );
}
