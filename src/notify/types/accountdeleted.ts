import type { NotificationType } from './notification.ts';

/** The account is gone; the mail goes to the address that the caller still knows. */
export const accountDeleted: NotificationType = {
  name: 'account_deletion.deleted',
  gates: { preference: false },
  canUnsubscribe: false,
  texts: {
    en: {
      subject: 'Your account was deleted',
      heading: 'Your account was deleted',
      paragraphs: [
        'Your account and everything in it have been deleted, as you asked.',
        'You are welcome to come back with a new account at any time.',
      ],
      action: 'Visit the site',
    },
    zh_CN: {
      subject: '你的账户已删除',
      heading: '你的账户已删除',
      paragraphs: ['按照你的要求，你的账户及其全部内容已被删除。', '欢迎你随时用新账户回来。'],
      action: '访问网站',
    },
    zh_TW: {
      subject: '你的帳戶已刪除',
      heading: '你的帳戶已刪除',
      paragraphs: ['按照你的要求，你的帳戶及其全部內容已被刪除。', '歡迎你隨時以新帳戶回來。'],
      action: '造訪網站',
    },
    ja: {
      subject: 'アカウントは削除されました',
      heading: 'アカウントは削除されました',
      paragraphs: [
        'ご依頼のとおり、アカウントとそのすべての内容を削除しました。',
        'いつでも新しいアカウントでお戻りください。',
      ],
      action: 'サイトを開く',
    },
    ko: {
      subject: '계정이 삭제되었습니다',
      heading: '계정이 삭제되었습니다',
      paragraphs: [
        '요청하신 대로 계정과 계정에 있던 모든 내용을 삭제했습니다.',
        '언제든지 새 계정으로 다시 찾아 주세요.',
      ],
      action: '사이트 방문',
    },
    de: {
      subject: 'Dein Konto wurde gelöscht',
      heading: 'Dein Konto wurde gelöscht',
      paragraphs: [
        'Dein Konto ist mit allem, was darin war, gelöscht, wie du es wolltest.',
        'Mit einem neuen Konto bist du jederzeit willkommen.',
      ],
      action: 'Zur Website',
    },
    es: {
      subject: 'Tu cuenta se ha eliminado',
      heading: 'Tu cuenta se ha eliminado',
      paragraphs: [
        'Tu cuenta y todo su contenido se han eliminado, como pediste.',
        'Puedes volver con una cuenta nueva cuando quieras.',
      ],
      action: 'Visitar el sitio',
    },
    fr: {
      subject: 'Votre compte a été supprimé',
      heading: 'Votre compte a été supprimé',
      paragraphs: [
        'Votre compte et tout son contenu ont été supprimés, comme vous l’avez demandé.',
        'Vous pouvez revenir à tout moment avec un nouveau compte.',
      ],
      action: 'Voir le site',
    },
    it: {
      subject: 'Il tuo account è stato eliminato',
      heading: 'Il tuo account è stato eliminato',
      paragraphs: [
        'Il tuo account e tutto il suo contenuto sono stati eliminati, come hai chiesto.',
        'Puoi tornare quando vuoi con un nuovo account.',
      ],
      action: 'Vai al sito',
    },
    ms: {
      subject: 'Akaun anda telah dipadamkan',
      heading: 'Akaun anda telah dipadamkan',
      paragraphs: [
        'Akaun anda dan segala kandungannya telah dipadamkan, seperti yang anda minta.',
        'Anda dialu-alukan kembali dengan akaun baharu pada bila-bila masa.',
      ],
      action: 'Lawati laman',
    },
    pt: {
      subject: 'Sua conta foi excluída',
      heading: 'Sua conta foi excluída',
      paragraphs: [
        'Sua conta e tudo o que havia nela foram excluídos, como você pediu.',
        'Você pode voltar com uma nova conta quando quiser.',
      ],
      action: 'Visitar o site',
    },
    ru: {
      subject: 'Ваш аккаунт удалён',
      heading: 'Ваш аккаунт удалён',
      paragraphs: [
        'Ваш аккаунт и всё, что в нём было, удалены по вашей просьбе.',
        'Вы всегда можете вернуться с новым аккаунтом.',
      ],
      action: 'Перейти на сайт',
    },
  },
};
