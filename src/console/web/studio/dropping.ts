import { useEffect, useState } from 'react';

/** Takes files that are dropped anywhere on the page. Returns whether some are dragged over it. */
export function useDroppedFiles(take: (files: FileList) => void): boolean {
  const [isDragging, setDragging] = useState(false);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false;
    const onDrag = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      // Otherwise, the browser opens the file in place of the page.
      event.preventDefault();
      setDragging(true);
    };
    window.addEventListener('dragover', onDrag, { signal });
    window.addEventListener('dragleave', ({ relatedTarget }) => relatedTarget === null && setDragging(false), {
      signal,
    });
    window.addEventListener(
      'drop',
      (event) => {
        setDragging(false);
        if (!hasFiles(event) || event.dataTransfer === null) return;
        event.preventDefault();
        take(event.dataTransfer.files);
      },
      { signal },
    );
    return () => leaving.abort();
  }, [take]);
  return isDragging;
}
