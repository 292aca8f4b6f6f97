/** A page with the AI SDK's `useChat` and nothing of ours. `sdk` is version 6 or 7, whichever the page is bundled with. */
import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { createRoot } from 'react-dom/client';

function Page({ api, threadId, headers, messages: stored }) {
  const { messages, sendMessage, addToolApprovalResponse, status, error } = useChat({
    id: threadId,
    messages: stored,
    resume: true,
    transport: new DefaultChatTransport({ api: `${api}/chat`, headers }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  return (
    <main>
      <p id="status">{status}</p>
      <p id="error">{error?.message}</p>
      <button type="button" onClick={() => void sendMessage({ text: window.question })}>
        Send
      </button>
      {messages.map(({ id, role, parts }) => (
        <section key={id} className={role}>
          {parts.map((part, index) => {
            const key = `${id} ${index}`;
            if (part.type === 'text') return <p key={key}>{part.text}</p>;
            if (!('toolCallId' in part)) return null;
            const approval = part.state === 'approval-requested' ? part.approval : undefined;
            return (
              <div key={key}>
                <p>{`${part.type}: ${part.state}`}</p>
                {approval && (
                  <>
                    <button
                      type="button"
                      onClick={() => void addToolApprovalResponse({ id: approval.id, approved: true })}
                    >
                      Approve
                    </button>
                    <button
                      type="button"
                      onClick={() => void addToolApprovalResponse({ id: approval.id, approved: false })}
                    >
                      Deny
                    </button>
                  </>
                )}
              </div>
            );
          })}
        </section>
      ))}
    </main>
  );
}

createRoot(document.body.appendChild(document.createElement('div'))).render(<Page {...window.options} />);
