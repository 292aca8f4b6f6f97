import { z } from 'zod';
import { invalid } from '#platform/problem.ts';
import { builtIn, formatDate } from './builtin.ts';

const expiresAt = z.iso.datetime({ offset: true });

/** The export of the account can be downloaded until `data.expires_at`. */
export const accountExportReady = builtIn({
  name: 'account_export.ready',
  audience: 'account',
  adapt: (texts, { data, language }) => {
    const parsed = expiresAt.safeParse(data.expires_at);
    if (parsed.success) return { ...texts, values: { expiry: formatDate(new Date(parsed.data), language) } };
    if (data.expires_at !== undefined && data.expires_at !== null)
      throw invalid('body.data.expires_at', 'must be an ISO 8601 time');
    const [first = '', , ...others] = texts.paragraphs;
    return { ...texts, paragraphs: [first, ...others] };
  },
  texts: {
    en: {
      subject: 'Your {brand} export is ready',
      heading: 'Your export is ready',
      paragraphs: [
        'The copy of the data of {email} that you requested is ready: your conversations, media and settings in one ZIP file.',
        'You can download it until {expiry}.',
        'Sign in and open your account to download it. If you did not request it, end all sessions in your account.',
      ],
      action: 'Sign in to {brand}',
    },
    zh_CN: {
      subject: '你的 {brand} 数据导出已准备好',
      heading: '你的数据导出已准备好',
      paragraphs: [
        '你申请的 {email} 的数据副本已准备好：对话、媒体和设置都在一个 ZIP 文件中。',
        '你可以在{expiry}之前下载。',
        '请登录并打开你的账户进行下载。如果这不是你本人的操作，请在账户中结束所有会话。',
      ],
      action: '登录 {brand}',
    },
    zh_TW: {
      subject: '你的 {brand} 資料匯出已準備好',
      heading: '你的資料匯出已準備好',
      paragraphs: [
        '你要求的 {email} 資料副本已準備好：對話、媒體和設定都在一個 ZIP 檔案中。',
        '你可以在{expiry}之前下載。',
        '請登入並開啟你的帳戶進行下載。如果這不是你本人的操作，請在帳戶中結束所有工作階段。',
      ],
      action: '登入 {brand}',
    },
    ja: {
      subject: '{brand} のデータのエクスポートが完了しました',
      heading: 'エクスポートの準備ができました',
      paragraphs: [
        'ご依頼の {email} のデータのコピーができました。会話、メディア、設定が 1 つの ZIP ファイルにまとめられています。',
        '{expiry}までダウンロードできます。',
        'サインインしてアカウントを開き、ダウンロードしてください。お心当たりがない場合は、アカウントですべてのセッションを終了してください。',
      ],
      action: '{brand} にサインイン',
    },
    ko: {
      subject: '{brand} 데이터 내보내기가 준비되었습니다',
      heading: '내보내기가 준비되었습니다',
      paragraphs: [
        '요청하신 {email}의 데이터 사본이 준비되었습니다. 대화, 미디어, 설정이 하나의 ZIP 파일에 들어 있습니다.',
        '{expiry}까지 다운로드할 수 있습니다.',
        '로그인한 뒤 계정을 열어 다운로드하세요. 본인이 요청하지 않았다면 계정에서 모든 세션을 종료하세요.',
      ],
      action: '{brand} 로그인',
    },
    de: {
      subject: 'Dein {brand}-Export ist fertig',
      heading: 'Dein Export ist fertig',
      paragraphs: [
        'Die Kopie der Daten von {email}, die du angefordert hast, ist fertig: Unterhaltungen, Medien und Einstellungen in einer ZIP-Datei.',
        'Du kannst sie bis zum {expiry} herunterladen.',
        'Melde dich an und öffne dein Konto, um sie herunterzuladen. Wenn du sie nicht angefordert hast, beende in deinem Konto alle Sitzungen.',
      ],
      action: 'Bei {brand} anmelden',
    },
    es: {
      subject: 'Tu exportación de {brand} está lista',
      heading: 'Tu exportación está lista',
      paragraphs: [
        'La copia de los datos de {email} que solicitaste está lista: tus conversaciones, archivos y ajustes en un archivo ZIP.',
        'Puedes descargarla hasta el {expiry}.',
        'Inicia sesión y abre tu cuenta para descargarla. Si no la solicitaste tú, cierra todas las sesiones desde tu cuenta.',
      ],
      action: 'Iniciar sesión en {brand}',
    },
    fr: {
      subject: 'Votre export {brand} est prêt',
      heading: 'Votre export est prêt',
      paragraphs: [
        'La copie des données de {email} que vous avez demandée est prête : vos conversations, vos médias et vos réglages dans un fichier ZIP.',
        'Vous pouvez la télécharger jusqu’au {expiry}.',
        'Connectez-vous et ouvrez votre compte pour la télécharger. Si vous n’êtes pas à l’origine de cette demande, fermez toutes les sessions depuis votre compte.',
      ],
      action: 'Se connecter à {brand}',
    },
    it: {
      subject: 'La tua esportazione di {brand} è pronta',
      heading: 'La tua esportazione è pronta',
      paragraphs: [
        'La copia dei dati di {email} che hai richiesto è pronta: conversazioni, file e impostazioni in un unico file ZIP.',
        'Puoi scaricarla fino al {expiry}.',
        'Accedi e apri il tuo account per scaricarla. Se non sei stato tu, chiudi tutte le sessioni dal tuo account.',
      ],
      action: 'Accedi a {brand}',
    },
    ms: {
      subject: 'Eksport {brand} anda sudah sedia',
      heading: 'Eksport anda sudah sedia',
      paragraphs: [
        'Salinan data {email} yang anda minta sudah sedia: perbualan, media dan tetapan dalam satu fail ZIP.',
        'Anda boleh memuat turunnya sehingga {expiry}.',
        'Log masuk dan buka akaun anda untuk memuat turunnya. Jika bukan anda yang memintanya, tamatkan semua sesi dalam akaun anda.',
      ],
      action: 'Log masuk ke {brand}',
    },
    pt: {
      subject: 'Sua exportação do {brand} está pronta',
      heading: 'Sua exportação está pronta',
      paragraphs: [
        'A cópia dos dados de {email} que você pediu está pronta: suas conversas, mídias e configurações em um arquivo ZIP.',
        'Você pode baixá-la até {expiry}.',
        'Entre e abra sua conta para baixá-la. Se não foi você, encerre todas as sessões na sua conta.',
      ],
      action: 'Entrar em {brand}',
    },
    ru: {
      subject: 'Ваш экспорт данных {brand} готов',
      heading: 'Экспорт данных готов',
      paragraphs: [
        'Запрошенная копия данных {email} готова: ваши диалоги, файлы и настройки в одном ZIP-архиве.',
        'До {expiry} её можно скачать.',
        'Чтобы скачать её, войдите и откройте свой аккаунт. Если вы её не запрашивали, завершите в аккаунте все сеансы.',
      ],
      action: 'Войти в аккаунт',
    },
  },
});
