import { z } from 'zod';
import { invalid } from '#platform/problem.ts';
import { builtIn, formatDate, type MailTexts } from './builtin.ts';

interface DeletionTexts extends MailTexts {
  /** Replaces the subject, and follows the first paragraph, if the day is known. */
  readonly datedSubject: string;
  readonly dated: string;
}

const deletionAt = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** The account will be deleted at `data.deletion_at`. Until then the user can prevent this. */
export const accountDeletionScheduled = builtIn<DeletionTexts>({
  name: 'account_deletion.scheduled',
  audience: 'account',
  adapt: (texts, { data, language }) => {
    if (data.deletion_at === undefined || data.deletion_at === null) return texts;
    const parsed = deletionAt.safeParse(data.deletion_at);
    if (!parsed.success) throw invalid('body.data.deletion_at', 'must be an ISO 8601 date or time');
    const [first = '', ...others] = texts.paragraphs;
    return {
      ...texts,
      subject: texts.datedSubject,
      paragraphs: [first, texts.dated, ...others],
      values: { deletion: formatDate(new Date(parsed.data), language) },
    };
  },
  texts: {
    en: {
      subject: 'Your {brand} account will be deleted',
      datedSubject: 'Your {brand} account will be deleted on {deletion}',
      heading: 'Your {brand} account is scheduled for deletion',
      paragraphs: [
        'On {today}, we received a request to delete the account of {email} and everything in it.',
        'If you changed your mind, or did not make this request, sign in before then and cancel the deletion.',
      ],
      dated: 'It will be deleted on {deletion}.',
      action: 'Sign in to {brand}',
    },
    zh_CN: {
      subject: '你的 {brand} 账户即将删除',
      datedSubject: '你的 {brand} 账户将于{deletion}删除',
      heading: '你的 {brand} 账户已安排删除',
      paragraphs: [
        '我们于{today}收到了删除 {email} 的账户及其全部内容的请求。',
        '如果你改变了主意，或者这不是你本人的操作，请在删除之前登录并取消。',
      ],
      dated: '账户将于{deletion}删除。',
      action: '登录 {brand}',
    },
    zh_TW: {
      subject: '你的 {brand} 帳戶即將刪除',
      datedSubject: '你的 {brand} 帳戶將於{deletion}刪除',
      heading: '你的 {brand} 帳戶已排定刪除',
      paragraphs: [
        '我們於{today}收到了刪除 {email} 的帳戶及其全部內容的請求。',
        '如果你改變了主意，或者這不是你本人的操作，請在刪除之前登入並取消。',
      ],
      dated: '帳戶將於{deletion}刪除。',
      action: '登入 {brand}',
    },
    ja: {
      subject: '{brand} アカウントは削除されます',
      datedSubject: '{brand} アカウントは{deletion}に削除されます',
      heading: '{brand} アカウントの削除が予定されています',
      paragraphs: [
        '{today}に、{email} のアカウントとそのすべての内容を削除するご依頼を受け付けました。',
        'お気持ちが変わった場合や、お心当たりがない場合は、削除の前にサインインして取り消してください。',
      ],
      dated: 'アカウントは{deletion}に削除されます。',
      action: '{brand} にサインイン',
    },
    ko: {
      subject: '{brand} 계정이 삭제될 예정입니다',
      datedSubject: '{brand} 계정이 {deletion}에 삭제될 예정입니다',
      heading: '{brand} 계정 삭제가 예약되었습니다',
      paragraphs: [
        '{today}에 {email} 계정과 계정에 있는 모든 내용을 삭제해 달라는 요청을 받았습니다.',
        '마음이 바뀌었거나 본인이 요청하지 않았다면 삭제되기 전에 로그인하여 취소하세요.',
      ],
      dated: '계정은 {deletion}에 삭제됩니다.',
      action: '{brand} 로그인',
    },
    de: {
      subject: 'Dein {brand}-Konto wird gelöscht',
      datedSubject: 'Dein {brand}-Konto wird am {deletion} gelöscht',
      heading: 'Dein {brand}-Konto ist zur Löschung vorgemerkt',
      paragraphs: [
        'Am {today} haben wir den Auftrag erhalten, das Konto von {email} mit allen Inhalten zu löschen.',
        'Wenn du es dir anders überlegt hast oder der Auftrag nicht von dir kam, melde dich vorher an und nimm ihn zurück.',
      ],
      dated: 'Es wird am {deletion} gelöscht.',
      action: 'Bei {brand} anmelden',
    },
    es: {
      subject: 'Tu cuenta de {brand} se eliminará',
      datedSubject: 'Tu cuenta de {brand} se eliminará el {deletion}',
      heading: 'La eliminación de tu cuenta de {brand} está programada',
      paragraphs: [
        'El {today} recibimos una solicitud para eliminar la cuenta de {email} y todo su contenido.',
        'Si has cambiado de opinión o no lo solicitaste tú, inicia sesión antes de la eliminación y cancélala.',
      ],
      dated: 'Se eliminará el {deletion}.',
      action: 'Iniciar sesión en {brand}',
    },
    fr: {
      subject: 'Votre compte {brand} va être supprimé',
      datedSubject: 'Votre compte {brand} sera supprimé le {deletion}',
      heading: 'La suppression de votre compte {brand} est prévue',
      paragraphs: [
        'Le {today}, nous avons reçu une demande de suppression du compte de {email} et de tout son contenu.',
        'Si vous avez changé d’avis, ou si vous n’êtes pas à l’origine de cette demande, connectez-vous avant la suppression et annulez-la.',
      ],
      dated: 'Il sera supprimé le {deletion}.',
      action: 'Se connecter à {brand}',
    },
    it: {
      subject: 'Il tuo account {brand} verrà eliminato',
      datedSubject: 'Il tuo account {brand} verrà eliminato in data {deletion}',
      heading: 'L’eliminazione del tuo account {brand} è in programma',
      paragraphs: [
        'In data {today} abbiamo ricevuto la richiesta di eliminare l’account di {email} e tutto il suo contenuto.',
        'Se hai cambiato idea, o se non sei stato tu, accedi prima dell’eliminazione e annullala.',
      ],
      dated: 'L’account verrà eliminato in data {deletion}.',
      action: 'Accedi a {brand}',
    },
    ms: {
      subject: 'Akaun {brand} anda akan dipadamkan',
      datedSubject: 'Akaun {brand} anda akan dipadamkan pada {deletion}',
      heading: 'Pemadaman akaun {brand} anda telah dijadualkan',
      paragraphs: [
        'Pada {today}, kami menerima permintaan untuk memadamkan akaun {email} dan segala kandungannya.',
        'Jika anda berubah fikiran, atau bukan anda yang memintanya, log masuk sebelum pemadaman dan batalkannya.',
      ],
      dated: 'Akaun ini akan dipadamkan pada {deletion}.',
      action: 'Log masuk ke {brand}',
    },
    pt: {
      subject: 'Sua conta {brand} será excluída',
      datedSubject: 'Sua conta {brand} será excluída em {deletion}',
      heading: 'A exclusão da sua conta {brand} está programada',
      paragraphs: [
        'Em {today}, recebemos um pedido para excluir a conta de {email} e todo o seu conteúdo.',
        'Se você mudou de ideia, ou se não foi você, entre antes da exclusão e cancele-a.',
      ],
      dated: 'Ela será excluída em {deletion}.',
      action: 'Entrar em {brand}',
    },
    ru: {
      subject: 'Ваш аккаунт {brand} будет удалён',
      datedSubject: 'Ваш аккаунт {brand} будет удалён {deletion}',
      heading: 'Удаление вашего аккаунта запланировано',
      paragraphs: [
        '{today} мы получили запрос на удаление аккаунта {email} и всего его содержимого.',
        'Если вы передумали или не отправляли этот запрос, войдите до удаления и отмените его.',
      ],
      dated: '{deletion} аккаунт будет удалён.',
      action: 'Войти в аккаунт',
    },
  },
});
