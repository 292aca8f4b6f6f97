import { undo, useNotices } from '../shell/notices.ts';

/** The newest notice. An open dialog covers the notices of the page, and keeps the focus from them. */
export function DialogNotices() {
  const notice = useNotices().at(-1);
  return (
    <div className="dialognotices" role="status">
      {notice && (
        <div className={`toast ${notice.tone}`}>
          <span>{notice.text}</span>
          {notice.undo && (
            <button type="button" className="plain strong" onClick={() => undo(notice.id)}>
              Undo
            </button>
          )}
        </div>
      )}
    </div>
  );
}
