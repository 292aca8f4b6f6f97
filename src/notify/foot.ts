/**
 * The sentences below every mail; `{brand}` is the operator's name. Russian texts have it in the subject only, because Latin names do
 * not inflect.
 */
import type { ContentLanguage } from '#platform/language.ts';

interface FootTexts {
  /** The reason why the reader got the mail. */
  readonly reason: string;
  readonly unsubscribe: string;
  /** Replaces both in mails about the account itself. */
  readonly account: string;
}

export const footTexts: Readonly<Record<ContentLanguage, FootTexts>> = {
  en: {
    reason: 'You are receiving this email because notifications are on in your {brand} account.',
    unsubscribe: 'Unsubscribe',
    account: 'This email is about your {brand} account, so you cannot turn it off.',
  },
  zh_CN: {
    reason: '你收到此邮件，是因为你的 {brand} 账户开启了通知。',
    unsubscribe: '退订',
    account: '此邮件与你的 {brand} 账户有关，无法关闭。',
  },
  zh_TW: {
    reason: '你收到此郵件，是因為你的 {brand} 帳戶開啟了通知。',
    unsubscribe: '取消訂閱',
    account: '此郵件與你的 {brand} 帳戶有關，無法關閉。',
  },
  ja: {
    reason: 'このメールは、{brand} アカウントの通知が有効になっているためお送りしています。',
    unsubscribe: '配信を停止する',
    account: 'このメールは {brand} アカウントに関する重要なお知らせのため、停止できません。',
  },
  ko: {
    reason: '{brand} 계정의 알림이 켜져 있어 이 메일을 보내 드립니다.',
    unsubscribe: '수신 거부',
    account: '이 메일은 {brand} 계정에 관한 중요한 안내이므로 끌 수 없습니다.',
  },
  de: {
    reason: 'Du bekommst diese E-Mail, weil in deinem {brand}-Konto Benachrichtigungen eingeschaltet sind.',
    unsubscribe: 'Abbestellen',
    account: 'Diese E-Mail betrifft dein {brand}-Konto und lässt sich nicht abbestellen.',
  },
  es: {
    reason: 'Recibes este correo porque las notificaciones de tu cuenta de {brand} están activadas.',
    unsubscribe: 'Darse de baja',
    account: 'Este correo trata sobre tu cuenta de {brand} y no se puede desactivar.',
  },
  fr: {
    reason: 'Vous recevez cet e-mail parce que les notifications de votre compte {brand} sont activées.',
    unsubscribe: 'Se désabonner',
    account: 'Cet e-mail concerne votre compte {brand} et ne peut pas être désactivé.',
  },
  it: {
    reason: 'Ricevi questa email perché le notifiche del tuo account {brand} sono attive.',
    unsubscribe: 'Annulla l’iscrizione',
    account: 'Questa email riguarda il tuo account {brand} e non può essere disattivata.',
  },
  ms: {
    reason: 'Anda menerima e-mel ini kerana pemberitahuan dihidupkan dalam akaun {brand} anda.',
    unsubscribe: 'Berhenti melanggan',
    account: 'E-mel ini berkenaan akaun {brand} anda dan tidak boleh dimatikan.',
  },
  pt: {
    reason: 'Você recebe este e-mail porque as notificações da sua conta {brand} estão ativadas.',
    unsubscribe: 'Cancelar inscrição',
    account: 'Este e-mail é sobre a sua conta {brand} e não pode ser desativado.',
  },
  ru: {
    reason: 'Вы получили это письмо, потому что в вашем аккаунте включены уведомления.',
    unsubscribe: 'Отписаться',
    account: 'Это письмо касается вашего аккаунта, отключить его нельзя.',
  },
};
