import { builtIn } from './builtin.ts';

/** The account no longer exists. The mail is sent to the address in the request. */
export const accountDeleted = builtIn({
  name: 'account_deletion.deleted',
  audience: 'account',
  texts: {
    en: {
      subject: 'Your {brand} account was deleted',
      heading: 'Your {brand} account was deleted',
      paragraphs: [
        'As requested, the account of {email} and everything in it were deleted on {today}.',
        'This cannot be undone. You can create a new account at any time.',
      ],
      action: 'Visit {brand}',
    },
    zh_CN: {
      subject: '你的 {brand} 账户已删除',
      heading: '你的 {brand} 账户已删除',
      paragraphs: ['按照要求，{email} 的账户及其全部内容已于{today}删除。', '此操作无法撤销。欢迎你随时用新账户回来。'],
      action: '访问 {brand}',
    },
    zh_TW: {
      subject: '你的 {brand} 帳戶已刪除',
      heading: '你的 {brand} 帳戶已刪除',
      paragraphs: ['按照要求，{email} 的帳戶及其全部內容已於{today}刪除。', '此操作無法復原。歡迎你隨時以新帳戶回來。'],
      action: '造訪 {brand}',
    },
    ja: {
      subject: '{brand} アカウントを削除しました',
      heading: '{brand} アカウントを削除しました',
      paragraphs: [
        'ご依頼のとおり、{today}に {email} のアカウントとそのすべての内容を削除しました。',
        '削除を取り消すことはできません。いつでも新しいアカウントでお戻りください。',
      ],
      action: '{brand} を開く',
    },
    ko: {
      subject: '{brand} 계정이 삭제되었습니다',
      heading: '{brand} 계정이 삭제되었습니다',
      paragraphs: [
        '요청하신 대로 {today}에 {email} 계정과 계정에 있던 모든 내용을 삭제했습니다.',
        '삭제는 되돌릴 수 없습니다. 언제든지 새 계정으로 다시 찾아 주세요.',
      ],
      action: '{brand} 방문하기',
    },
    de: {
      subject: 'Dein {brand}-Konto wurde gelöscht',
      heading: 'Dein {brand}-Konto wurde gelöscht',
      paragraphs: [
        'Das Konto von {email} wurde am {today} mit allen Inhalten gelöscht, wie gewünscht.',
        'Das lässt sich nicht rückgängig machen. Mit einem neuen Konto bist du jederzeit willkommen.',
      ],
      action: '{brand} besuchen',
    },
    es: {
      subject: 'Tu cuenta de {brand} se ha eliminado',
      heading: 'Tu cuenta de {brand} se ha eliminado',
      paragraphs: [
        'La cuenta de {email} y todo su contenido se eliminaron el {today}, tal como se solicitó.',
        'No se puede deshacer. Puedes volver con una cuenta nueva cuando quieras.',
      ],
      action: 'Visitar {brand}',
    },
    fr: {
      subject: 'Votre compte {brand} a été supprimé',
      heading: 'Votre compte {brand} a été supprimé',
      paragraphs: [
        'Le compte de {email} et tout son contenu ont été supprimés le {today}, comme demandé.',
        'Cette suppression est définitive. Vous pouvez revenir à tout moment avec un nouveau compte.',
      ],
      action: 'Visiter {brand}',
    },
    it: {
      subject: 'Il tuo account {brand} è stato eliminato',
      heading: 'Il tuo account {brand} è stato eliminato',
      paragraphs: [
        'L’account di {email} e tutto il suo contenuto sono stati eliminati in data {today}, come richiesto.',
        'L’eliminazione è definitiva. Puoi tornare quando vuoi con un nuovo account.',
      ],
      action: 'Visita {brand}',
    },
    ms: {
      subject: 'Akaun {brand} anda telah dipadamkan',
      heading: 'Akaun {brand} anda telah dipadamkan',
      paragraphs: [
        'Akaun {email} dan segala kandungannya telah dipadamkan pada {today}, seperti yang diminta.',
        'Tindakan ini tidak boleh dibatalkan. Anda dialu-alukan kembali dengan akaun baharu pada bila-bila masa.',
      ],
      action: 'Lawati {brand}',
    },
    pt: {
      subject: 'Sua conta {brand} foi excluída',
      heading: 'Sua conta {brand} foi excluída',
      paragraphs: [
        'A conta de {email} e todo o seu conteúdo foram excluídos em {today}, como solicitado.',
        'A exclusão não pode ser desfeita. Você pode voltar com uma nova conta quando quiser.',
      ],
      action: 'Visitar {brand}',
    },
    ru: {
      subject: 'Ваш аккаунт {brand} удалён',
      heading: 'Ваш аккаунт удалён',
      paragraphs: [
        'Аккаунт {email} и всё его содержимое удалены {today} по вашему запросу.',
        'Отменить это нельзя. Вы всегда можете вернуться с новым аккаунтом.',
      ],
      action: 'Перейти на сайт',
    },
  },
});
