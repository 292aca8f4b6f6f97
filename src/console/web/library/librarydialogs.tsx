import { AlbumDialog } from './albumdialog.tsx';
import { CompareDialog } from './comparedialog.tsx';
import { closeDialog, type LibraryDialog } from './dialogs.ts';
import { ShareDialog } from './sharedialog.tsx';

export function LibraryDialogs({ dialog }: { readonly dialog: LibraryDialog }) {
  if (dialog.kind === 'album') return <AlbumDialog assetIds={dialog.assetIds} onClose={closeDialog} />;
  if (dialog.kind === 'compare') return <CompareDialog assetIds={dialog.assetIds} onClose={closeDialog} />;
  return <ShareDialog of={dialog} onClose={closeDialog} />;
}
