import { Upload } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';

/** Takes files that are dropped anywhere in the window, or pasted. Without it, the browser would leave the page. */
export function DropAnywhere({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const listening = new AbortController();
    const options = { signal: listening.signal };
    const over = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    addEventListener('dragenter', over, options);
    addEventListener('dragover', over, options);
    addEventListener(
      'dragleave',
      (event) => {
        if (event.relatedTarget === null) setOver(false);
      },
      options,
    );
    addEventListener(
      'drop',
      (event) => {
        if (!carriesFiles(event)) return;
        event.preventDefault();
        setOver(false);
        take.current([...(event.dataTransfer?.files ?? [])]);
      },
      options,
    );
    addEventListener(
      'paste',
      (event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        take.current(files);
      },
      options,
    );
    return () => listening.abort();
  }, []);
  return (
    isOver && (
      <div className="dropzone" aria-hidden="true">
        <Upload size={20} strokeWidth={1.75} />
        Drop files to upload them
      </div>
    )
  );
}
