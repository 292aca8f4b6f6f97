import { builtIn, type MailTexts } from './builtin.ts';

interface DigestTexts extends MailTexts {
  /** Replaces the paragraphs above the trending items. */
  readonly trending: string;
}

/** Sent once a day to users of the free plan who have not turned it off (docs/specification/notify.md#types). */
export const dailyDigest = builtIn<DigestTexts>({
  name: 'daily_digest',
  audience: 'product',
  plans: ['free'],
  showsTrending: true,
  adapt: (texts, { trending }) =>
    trending.length === 0 ? texts : { ...texts, paragraphs: [texts.trending], items: trending },
  texts: {
    en: {
      subject: 'Your {brand} digest for {today}',
      heading: 'New today on {brand}',
      paragraphs: [
        'There are fresh ideas and styles to try today.',
        'Open your studio, pick one, and make it your own.',
      ],
      trending: 'This is trending right now. Pick one, and make it your own.',
      action: 'Open {brand}',
    },
    zh_CN: {
      subject: '{brand} 每日摘要：{today}',
      heading: '{brand} 今日新鲜事',
      paragraphs: ['今天有新的灵感和风格等你来试。', '打开工作室，挑一个，做出属于你的作品。'],
      trending: '以下是当前的热门内容。挑一个，做出属于你的作品。',
      action: '打开 {brand}',
    },
    zh_TW: {
      subject: '{brand} 每日摘要：{today}',
      heading: '{brand} 今日新鮮事',
      paragraphs: ['今天有新的靈感和風格等你來試。', '打開工作室，挑一個，做出屬於你的作品。'],
      trending: '以下是目前的熱門內容。挑一個，做出屬於你的作品。',
      action: '開啟 {brand}',
    },
    ja: {
      subject: '{brand} ダイジェスト（{today}）',
      heading: '{brand} の今日の新着',
      paragraphs: [
        '今日も新しいアイデアとスタイルが届いています。',
        'スタジオを開いて、気になるものを自分の作品にしてみましょう。',
      ],
      trending: 'いま話題の作品です。気になるものを自分の作品にしてみましょう。',
      action: '{brand} を開く',
    },
    ko: {
      subject: '{brand} 오늘의 소식: {today}',
      heading: '{brand} 오늘의 새로운 소식',
      paragraphs: [
        '오늘 시도해 볼 새로운 아이디어와 스타일이 있습니다.',
        '스튜디오를 열고 하나를 골라 나만의 작품으로 만들어 보세요.',
      ],
      trending: '지금 인기 있는 콘텐츠입니다. 하나를 골라 나만의 작품으로 만들어 보세요.',
      action: '{brand} 열기',
    },
    de: {
      subject: 'Dein {brand}-Überblick vom {today}',
      heading: 'Heute neu bei {brand}',
      paragraphs: [
        'Heute gibt es frische Ideen und Stile zum Ausprobieren.',
        'Öffne dein Studio, such dir etwas aus und mach es zu deinem.',
      ],
      trending: 'Das ist gerade im Trend. Such dir etwas aus und mach es zu deinem.',
      action: '{brand} öffnen',
    },
    es: {
      subject: 'Tu resumen de {brand} del {today}',
      heading: 'Novedades de hoy en {brand}',
      paragraphs: ['Hoy hay ideas y estilos nuevos para probar.', 'Abre tu estudio, elige uno y hazlo tuyo.'],
      trending: 'Esto es tendencia ahora mismo. Elige una idea y hazla tuya.',
      action: 'Abrir {brand}',
    },
    fr: {
      subject: 'Votre résumé {brand} du {today}',
      heading: 'Du nouveau aujourd’hui sur {brand}',
      paragraphs: [
        'De nouvelles idées et de nouveaux styles vous attendent aujourd’hui.',
        'Ouvrez votre studio, choisissez-en un et faites-en le vôtre.',
      ],
      trending: 'Voici les tendances du moment. Choisissez une idée et faites-en la vôtre.',
      action: 'Ouvrir {brand}',
    },
    it: {
      subject: 'Il tuo riepilogo di {brand}: {today}',
      heading: 'Le novità di oggi su {brand}',
      paragraphs: [
        'Oggi ci sono nuove idee e nuovi stili da provare.',
        'Apri il tuo studio, scegline uno e rendilo tuo.',
      ],
      trending: 'Ecco le tendenze del momento. Scegli un’idea e rendila tua.',
      action: 'Apri {brand}',
    },
    ms: {
      subject: 'Ringkasan {brand} anda untuk {today}',
      heading: 'Yang baharu di {brand} hari ini',
      paragraphs: [
        'Ada idea dan gaya baharu untuk dicuba hari ini.',
        'Buka studio anda, pilih satu dan jadikannya milik anda.',
      ],
      trending: 'Inilah yang sedang popular. Pilih satu dan jadikannya milik anda.',
      action: 'Buka {brand}',
    },
    pt: {
      subject: 'Seu resumo {brand} de {today}',
      heading: 'Novidades de hoje em {brand}',
      paragraphs: [
        'Hoje há novas ideias e novos estilos para experimentar.',
        'Abra seu estúdio, escolha um e faça dele algo seu.',
      ],
      trending: 'Isto está em alta agora. Escolha uma ideia e faça dela algo seu.',
      action: 'Abrir {brand}',
    },
    ru: {
      subject: 'Сводка {brand}: {today}',
      heading: 'Что нового сегодня',
      paragraphs: [
        'Сегодня вас ждут новые идеи и стили.',
        'Откройте студию, выберите что-нибудь и сделайте это своим.',
      ],
      trending: 'Вот что сейчас популярно. Выберите идею и сделайте её своей.',
      action: 'Открыть студию',
    },
  },
});
