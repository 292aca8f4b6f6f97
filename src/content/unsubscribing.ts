/**
 * `/unsubscribe?token=…`, the target of the links in mails (docs/specification/notify.md). A GET changes nothing,
 * because mail scanners open every link. A POST does, from the page or from a mail client (RFC 8058).
 */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { unsubscribe } from '#accounts/store.ts';
import { readUnsubscribe } from '#accounts/unsubscribing.ts';
import { html } from '#platform/escaping.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { type ContentLanguage, negotiateLanguage } from '#platform/language.ts';
import type { ContentContext } from './context.ts';

const query = z.object({ token: z.string().max(128).optional() });

export function addUnsubscribing(
  app: HttpServer,
  accounts: ContentContext['accounts'],
  unsubscribeSecret: string,
): void {
  const routes = routesOf(app, 'content');
  const read = (token = '') => readUnsubscribe(unsubscribeSecret, token);

  routes.get(
    '/unsubscribe',
    {},
    {
      id: 'readUnsubscribePage',
      summary: 'Show the unsubscribe confirmation page',
      description: 'Shows a page with an unsubscribe button. Emails link to this page.',
      otherResponses: { 200: ['The page.', 'text/html'], 400: ['A page for an invalid link.', 'text/html'] },
      client: { query: 'UnsubscribeLink', kind: 'page' },
      querystring: query,
    },
    async (request, reply) => showPage(request, reply, read(request.query.token) ? 'question' : 'invalid'),
  );

  app.register(async (forms: HttpServer) => {
    // The body of a form or of a mail client adds nothing to the URL.
    forms.addContentTypeParser('*', { bodyLimit: 4096, parseAs: 'buffer' }, (_request, _body, done) => done(null));
    routesOf(forms, 'content').post(
      '/unsubscribe',
      {},
      {
        id: 'unsubscribe',
        summary: 'Unsubscribe from notification email',
        description: 'Unsubscribes the user of the token. Mail clients call it for one-click unsubscribe (RFC 8058).',
        otherResponses: { 200: ['A page.', 'text/html'], 400: ['A page for an invalid link.', 'text/html'] },
        client: { query: 'UnsubscribeLink', kind: 'page', repeatable: true },
        querystring: query,
      },
      async (request, reply) => {
        const unsubscription = read(request.query.token);
        if (unsubscription !== undefined) await unsubscribe(accounts, unsubscription);
        return showPage(request, reply, unsubscription === undefined ? 'invalid' : 'done');
      },
    );
  });
}

function showPage(request: FastifyRequest, reply: FastifyReply, state: PageState) {
  const page = renderUnsubscribePage(negotiateLanguage(request.headers['accept-language']), state);
  return reply
    .code(state === 'invalid' ? 400 : 200)
    .headers({
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      // The URL is a bearer secret.
      'referrer-policy': 'no-referrer',
      vary: 'Accept-Language',
    })
    .type('text/html; charset=utf-8')
    .send(page);
}

// The page of the link at the foot of a mail. It works without scripts, in the reader's language.

interface PageTexts {
  readonly title: string;
  readonly question: string;
  readonly done: string;
  readonly invalid: string;
}

type PageState = 'question' | 'done' | 'invalid';

export function renderUnsubscribePage(language: ContentLanguage, state: PageState): string {
  const texts = pageTexts[language];
  // The URL of the page contains the token, and the form posts to the same URL.
  const form = html`<form method="post"><button>${texts.title}</button></form>`;
  return html`<!doctype html>
<html lang="${language.replace('_', '-')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${texts.title}</title>
<style>
body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 16px/1.6 system-ui, sans-serif; color-scheme: light dark }
main { max-width: 28rem; padding: 2rem }
h1 { font-size: 1.375rem }
button { font: inherit; font-weight: 600; padding: .75rem 1.25rem; border: 0; border-radius: .5rem; background: #3730a3; color: #fff; cursor: pointer }
button:focus-visible { outline: 3px solid; outline-offset: 3px }
</style>
</head>
<body>
<main>
<h1>${texts.title}</h1>
<p>${texts[state]}</p>
${state === 'question' ? form : ''}
</main>
</body>
</html>
`.text;
}

const pageTexts: Readonly<Record<ContentLanguage, PageTexts>> = {
  en: {
    title: 'Unsubscribe',
    question: 'Stop receiving notification emails for your account?',
    done: 'You are unsubscribed. You can turn notifications on again in your settings at any time.',
    invalid: 'This link is not valid. Use the link in a more recent email.',
  },
  zh_CN: {
    title: '退订',
    question: '不再向你的账户发送通知邮件？',
    done: '你已退订。你可以随时在设置中重新开启通知。',
    invalid: '此链接无效。请打开较新邮件中的链接。',
  },
  zh_TW: {
    title: '取消訂閱',
    question: '不再向你的帳戶發送通知郵件？',
    done: '你已取消訂閱。你可以隨時在設定中重新開啟通知。',
    invalid: '此連結無效。請打開較新郵件中的連結。',
  },
  ja: {
    title: '配信停止',
    question: 'お知らせメールの配信を停止しますか？',
    done: '配信を停止しました。通知は設定からいつでも再開できます。',
    invalid: 'このリンクは無効です。新しいメールのリンクを開いてください。',
  },
  ko: {
    title: '수신 거부',
    question: '계정으로 보내는 알림 메일을 중단할까요?',
    done: '수신 거부되었습니다. 설정에서 언제든지 알림을 다시 켤 수 있습니다.',
    invalid: '유효하지 않은 링크입니다. 최근 메일의 링크를 열어 주세요.',
  },
  de: {
    title: 'Abbestellen',
    question: 'Keine Benachrichtigungen mehr per Mail an dein Konto senden?',
    done: 'Du bekommst keine Benachrichtigungen mehr. In den Einstellungen lassen sie sich jederzeit wieder einschalten.',
    invalid: 'Dieser Link ist ungültig. Öffne den Link in einer neueren Mail.',
  },
  es: {
    title: 'Darse de baja',
    question: '¿Dejar de enviar correos de notificación a tu cuenta?',
    done: 'Te has dado de baja. Puedes volver a activar las notificaciones en los ajustes cuando quieras.',
    invalid: 'Este enlace no es válido. Abre el enlace de un correo más reciente.',
  },
  fr: {
    title: 'Se désabonner',
    question: 'Ne plus envoyer de notifications par e-mail à votre compte ?',
    done: 'Vous êtes désabonné. Vous pouvez réactiver les notifications à tout moment dans vos réglages.',
    invalid: 'Ce lien n’est pas valable. Ouvrez le lien d’un message plus récent.',
  },
  it: {
    title: 'Annulla l’iscrizione',
    question: 'Non inviare più notifiche via e-mail al tuo account?',
    done: 'L’iscrizione è annullata. Puoi riattivare le notifiche nelle impostazioni quando vuoi.',
    invalid: 'Questo link non è valido. Apri il link di un messaggio più recente.',
  },
  ms: {
    title: 'Berhenti melanggan',
    question: 'Berhenti menghantar mel pemberitahuan kepada akaun anda?',
    done: 'Langganan anda telah dihentikan. Anda boleh menghidupkan pemberitahuan semula dalam tetapan pada bila-bila masa.',
    invalid: 'Pautan ini tidak sah. Buka pautan dalam mel yang lebih baharu.',
  },
  pt: {
    title: 'Cancelar inscrição',
    question: 'Parar de enviar e-mails de notificação para a sua conta?',
    done: 'Sua inscrição foi cancelada. Você pode reativar as notificações nas configurações quando quiser.',
    invalid: 'Este link não é válido. Abra o link de um e-mail mais recente.',
  },
  ru: {
    title: 'Отписаться',
    question: 'Больше не присылать письма с уведомлениями?',
    done: 'Вы отписались. Уведомления можно снова включить в настройках в любое время.',
    invalid: 'Ссылка недействительна. Откройте ссылку из более нового письма.',
  },
};
