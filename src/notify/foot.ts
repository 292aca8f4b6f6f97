/** What stands below every mail. */
import type { ContentLanguage } from '#platform/language.ts';

interface FootTexts {
  /** Why the reader got it. */
  readonly reason: string;
  readonly unsubscribe: string;
  /** In place of both, on mails about the account itself. */
  readonly account: string;
}

export const footTexts: Readonly<Record<ContentLanguage, FootTexts>> = {
  en: {
    reason: 'You get this mail because notifications are switched on in your account.',
    unsubscribe: 'Unsubscribe',
    account: 'This mail is about your account and cannot be switched off.',
  },
  zh_CN: {
    reason: '你收到此邮件，是因为你的账户开启了通知。',
    unsubscribe: '退订',
    account: '此邮件与你的账户有关，无法关闭。',
  },
  zh_TW: {
    reason: '你收到此郵件，是因為你的帳戶開啟了通知。',
    unsubscribe: '取消訂閱',
    account: '此郵件與你的帳戶有關，無法關閉。',
  },
  ja: {
    reason: 'このメールは、アカウントの通知が有効なため送信されています。',
    unsubscribe: '配信を停止する',
    account: 'このメールはアカウントに関する重要なお知らせのため、停止できません。',
  },
  ko: {
    reason: '계정의 알림이 켜져 있어 이 메일을 보내 드립니다.',
    unsubscribe: '수신 거부',
    account: '이 메일은 계정에 관한 안내이므로 끌 수 없습니다.',
  },
  de: {
    reason: 'Du bekommst diese Mail, weil in deinem Konto Benachrichtigungen eingeschaltet sind.',
    unsubscribe: 'Abbestellen',
    account: 'Diese Mail betrifft dein Konto und lässt sich nicht abbestellen.',
  },
  es: {
    reason: 'Recibes este correo porque las notificaciones de tu cuenta están activadas.',
    unsubscribe: 'Darse de baja',
    account: 'Este correo trata sobre tu cuenta y no se puede desactivar.',
  },
  fr: {
    reason: 'Vous recevez ce message parce que les notifications de votre compte sont activées.',
    unsubscribe: 'Se désabonner',
    account: 'Ce message concerne votre compte et ne peut pas être désactivé.',
  },
  it: {
    reason: 'Ricevi questo messaggio perché le notifiche del tuo account sono attive.',
    unsubscribe: 'Annulla l’iscrizione',
    account: 'Questo messaggio riguarda il tuo account e non può essere disattivato.',
  },
  ms: {
    reason: 'Anda menerima mel ini kerana pemberitahuan dihidupkan dalam akaun anda.',
    unsubscribe: 'Berhenti melanggan',
    account: 'Mel ini berkenaan akaun anda dan tidak boleh dimatikan.',
  },
  pt: {
    reason: 'Você recebe este e-mail porque as notificações da sua conta estão ativadas.',
    unsubscribe: 'Cancelar inscrição',
    account: 'Este e-mail é sobre a sua conta e não pode ser desativado.',
  },
  ru: {
    reason: 'Вы получили это письмо, потому что в вашем аккаунте включены уведомления.',
    unsubscribe: 'Отписаться',
    account: 'Это письмо касается вашего аккаунта, отключить его нельзя.',
  },
};
