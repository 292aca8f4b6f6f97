import type { NotificationType } from './notification.ts';

/** Somebody asked for the account to be deleted: there is still time to keep it. */
export const accountDeletionScheduled: NotificationType = {
  name: 'account_deletion.scheduled',
  gates: { preference: false },
  canUnsubscribe: false,
  texts: {
    en: {
      subject: 'Your account will be deleted',
      heading: 'Your account is scheduled for deletion',
      paragraphs: [
        'We received a request to delete your account and everything in it.',
        'If you changed your mind, or it was not you, sign in before the deletion and cancel it.',
      ],
      action: 'Sign in',
    },
    zh_CN: {
      subject: '你的账户即将删除',
      heading: '你的账户已安排删除',
      paragraphs: [
        '我们收到了删除你的账户及其全部内容的请求。',
        '如果你改变了主意，或者这不是你本人的操作，请在删除之前登录并取消。',
      ],
      action: '登录',
    },
    zh_TW: {
      subject: '你的帳戶即將刪除',
      heading: '你的帳戶已排定刪除',
      paragraphs: [
        '我們收到了刪除你的帳戶及其全部內容的請求。',
        '如果你改變了主意，或者這不是你本人的操作，請在刪除之前登入並取消。',
      ],
      action: '登入',
    },
    ja: {
      subject: 'アカウントは削除されます',
      heading: 'アカウントの削除が予定されています',
      paragraphs: [
        'アカウントとそのすべての内容を削除するご依頼を受け付けました。',
        'お気持ちが変わった場合や、お心当たりがない場合は、削除の前にサインインして取り消してください。',
      ],
      action: 'サインイン',
    },
    ko: {
      subject: '계정이 삭제될 예정입니다',
      heading: '계정 삭제가 예약되었습니다',
      paragraphs: [
        '계정과 계정에 있는 모든 내용을 삭제해 달라는 요청을 받았습니다.',
        '마음이 바뀌었거나 본인이 요청하지 않았다면 삭제되기 전에 로그인하여 취소하세요.',
      ],
      action: '로그인',
    },
    de: {
      subject: 'Dein Konto wird gelöscht',
      heading: 'Dein Konto ist zur Löschung vorgemerkt',
      paragraphs: [
        'Wir haben den Auftrag erhalten, dein Konto mit allem, was darin ist, zu löschen.',
        'Wenn du es dir anders überlegt hast oder es nicht von dir kam, melde dich vorher an und nimm den Auftrag zurück.',
      ],
      action: 'Anmelden',
    },
    es: {
      subject: 'Tu cuenta se eliminará',
      heading: 'La eliminación de tu cuenta está programada',
      paragraphs: [
        'Hemos recibido una solicitud para eliminar tu cuenta y todo su contenido.',
        'Si has cambiado de opinión o no fuiste tú, inicia sesión antes de la eliminación y cancélala.',
      ],
      action: 'Iniciar sesión',
    },
    fr: {
      subject: 'Votre compte va être supprimé',
      heading: 'La suppression de votre compte est prévue',
      paragraphs: [
        'Nous avons reçu une demande de suppression de votre compte et de tout son contenu.',
        'Si vous avez changé d’avis, ou si ce n’était pas vous, connectez-vous avant la suppression et annulez-la.',
      ],
      action: 'Se connecter',
    },
    it: {
      subject: 'Il tuo account verrà eliminato',
      heading: 'L’eliminazione del tuo account è in programma',
      paragraphs: [
        'Abbiamo ricevuto la richiesta di eliminare il tuo account e tutto il suo contenuto.',
        'Se hai cambiato idea, o se non sei stato tu, accedi prima dell’eliminazione e annullala.',
      ],
      action: 'Accedi',
    },
    ms: {
      subject: 'Akaun anda akan dipadamkan',
      heading: 'Pemadaman akaun anda telah dijadualkan',
      paragraphs: [
        'Kami menerima permintaan untuk memadamkan akaun anda dan segala kandungannya.',
        'Jika anda berubah fikiran, atau bukan anda yang memintanya, log masuk sebelum pemadaman dan batalkannya.',
      ],
      action: 'Log masuk',
    },
    pt: {
      subject: 'Sua conta será excluída',
      heading: 'A exclusão da sua conta está programada',
      paragraphs: [
        'Recebemos um pedido para excluir sua conta e tudo o que há nela.',
        'Se você mudou de ideia, ou se não foi você, entre antes da exclusão e cancele-a.',
      ],
      action: 'Entrar',
    },
    ru: {
      subject: 'Ваш аккаунт будет удалён',
      heading: 'Удаление вашего аккаунта запланировано',
      paragraphs: [
        'Мы получили запрос на удаление вашего аккаунта и всего, что в нём есть.',
        'Если вы передумали или это были не вы, войдите до удаления и отмените его.',
      ],
      action: 'Войти',
    },
  },
};
