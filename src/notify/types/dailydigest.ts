import type { NotificationType } from './notification.ts';

/** Once a day, to users of the free plan who have not switched it off (docs/specification/notify.md#types). */
export const dailyDigest: NotificationType = {
  name: 'daily_digest',
  gates: { preference: true, plan: 'free' },
  canUnsubscribe: true,
  texts: {
    en: {
      subject: 'Your daily digest',
      heading: 'New in your studio today',
      paragraphs: [
        'There are fresh ideas and styles to try today.',
        'Open your studio, pick one, and make it your own.',
      ],
      action: 'Open the studio',
    },
    zh_CN: {
      subject: '你的每日摘要',
      heading: '今日工作室新鲜事',
      paragraphs: ['今天有新的灵感和风格等你来试。', '打开工作室，挑一个，做出属于你的作品。'],
      action: '打开工作室',
    },
    zh_TW: {
      subject: '你的每日摘要',
      heading: '今日工作室新鮮事',
      paragraphs: ['今天有新的靈感和風格等你來試。', '打開工作室，挑一個，做出屬於你的作品。'],
      action: '打開工作室',
    },
    ja: {
      subject: '今日のダイジェスト',
      heading: '今日のスタジオの新着',
      paragraphs: [
        '今日も新しいアイデアとスタイルが届いています。',
        'スタジオを開いて、気になるものを自分の作品にしてみましょう。',
      ],
      action: 'スタジオを開く',
    },
    ko: {
      subject: '오늘의 소식',
      heading: '오늘 스튜디오의 새로운 소식',
      paragraphs: [
        '오늘 시도해 볼 새로운 아이디어와 스타일이 있습니다.',
        '스튜디오를 열고 하나를 골라 나만의 작품으로 만들어 보세요.',
      ],
      action: '스튜디오 열기',
    },
    de: {
      subject: 'Dein Tagesüberblick',
      heading: 'Heute neu in deinem Studio',
      paragraphs: [
        'Heute gibt es frische Ideen und Stile zum Ausprobieren.',
        'Öffne dein Studio, such dir etwas aus und mach es zu deinem.',
      ],
      action: 'Studio öffnen',
    },
    es: {
      subject: 'Tu resumen diario',
      heading: 'Novedades de hoy en tu estudio',
      paragraphs: ['Hoy hay ideas y estilos nuevos para probar.', 'Abre tu estudio, elige uno y hazlo tuyo.'],
      action: 'Abrir el estudio',
    },
    fr: {
      subject: 'Votre résumé du jour',
      heading: 'Du nouveau aujourd’hui dans votre studio',
      paragraphs: [
        'De nouvelles idées et de nouveaux styles vous attendent aujourd’hui.',
        'Ouvrez votre studio, choisissez-en un et faites-en le vôtre.',
      ],
      action: 'Ouvrir le studio',
    },
    it: {
      subject: 'Il tuo riepilogo del giorno',
      heading: 'Le novità di oggi nel tuo studio',
      paragraphs: [
        'Oggi ci sono nuove idee e nuovi stili da provare.',
        'Apri il tuo studio, scegline uno e rendilo tuo.',
      ],
      action: 'Apri lo studio',
    },
    ms: {
      subject: 'Ringkasan harian anda',
      heading: 'Yang baharu di studio anda hari ini',
      paragraphs: [
        'Ada idea dan gaya baharu untuk dicuba hari ini.',
        'Buka studio anda, pilih satu dan jadikannya milik anda.',
      ],
      action: 'Buka studio',
    },
    pt: {
      subject: 'Seu resumo diário',
      heading: 'Novidades de hoje no seu estúdio',
      paragraphs: [
        'Hoje há novas ideias e novos estilos para experimentar.',
        'Abra seu estúdio, escolha um e faça dele algo seu.',
      ],
      action: 'Abrir o estúdio',
    },
    ru: {
      subject: 'Ваша ежедневная сводка',
      heading: 'Что нового сегодня в вашей студии',
      paragraphs: [
        'Сегодня вас ждут новые идеи и стили.',
        'Откройте студию, выберите что-нибудь и сделайте это своим.',
      ],
      action: 'Открыть студию',
    },
  },
};
