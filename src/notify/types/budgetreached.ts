import { z } from 'zod';
import type { ContentLanguage } from '#platform/language.ts';
import { invalid } from '#platform/problem.ts';
import { builtIn, formatDate } from './builtin.ts';

/** Without data, as in a preview, the mail is about a whole budget. */
const facts = z.object({
  period: z.enum(['day', 'month']).default('day'),
  /** The first day of the period. */
  start: z.iso.date().optional(),
  percent: z.number().default(100),
  budgetUsd: z.number().default(100),
  spentUsd: z.number().default(100),
});

/** To an operator: a part of a budget is spent. */
export const budgetReached = builtIn({
  name: 'budget.reached',
  audience: 'account',
  adapt: (texts, { data, language, now }) => {
    const parsed = facts.safeParse(data);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw invalid(`body.data.${issue?.path.join('.')}`, issue?.message ?? 'is invalid');
    }
    const { period, start, percent, budgetUsd, spentUsd } = parsed.data;
    const first = start === undefined ? now : new Date(start);
    const usd = formatOf(language, { style: 'currency', currency: 'USD' });
    return {
      ...texts,
      values: {
        percent: formatOf(language, { style: 'percent' })(percent / 100),
        budget: usd(budgetUsd),
        spent: usd(spentUsd),
        period: period === 'day' ? formatDate(first, language) : formatMonth(first, language),
      },
    };
  },
  texts: {
    en: {
      subject: '{percent} of the {brand} budget for {period} is spent',
      heading: '{percent} of the budget is spent',
      paragraphs: [
        'Models and providers cost {spent} so far. The budget for {period} (UTC) is {budget}.',
        'A budget does not limit spending. Runs, images and videos continue.',
      ],
      action: 'Visit {brand}',
    },
    zh_CN: {
      subject: '{brand}：{period} 的预算已使用 {percent}',
      heading: '预算已使用 {percent}',
      paragraphs: [
        '模型和服务商的费用目前为 {spent}。{period}（UTC）的预算为 {budget}。',
        '预算不会限制支出。运行、图片和视频仍会继续。',
      ],
      action: '访问 {brand}',
    },
    zh_TW: {
      subject: '{brand}：{period} 的預算已使用 {percent}',
      heading: '預算已使用 {percent}',
      paragraphs: [
        '模型與供應商的費用目前為 {spent}。{period}（UTC）的預算為 {budget}。',
        '預算不會限制支出。執行、圖片與影片仍會繼續。',
      ],
      action: '造訪 {brand}',
    },
    ja: {
      subject: '{brand}: {period}の予算の {percent} を使用しました',
      heading: '予算の {percent} を使用しました',
      paragraphs: [
        'モデルとプロバイダーの費用は現在 {spent} です。{period} (UTC) の予算は {budget} です。',
        '予算は支出を制限しません。実行、画像、動画の処理は続きます。',
      ],
      action: '{brand} を開く',
    },
    ko: {
      subject: '{brand}: {period} 예산의 {percent} 사용',
      heading: '예산의 {percent}를 사용했습니다',
      paragraphs: [
        '모델과 제공업체 비용은 현재 {spent}입니다. {period}(UTC) 예산은 {budget}입니다.',
        '예산은 지출을 제한하지 않습니다. 실행, 이미지, 동영상은 계속 처리됩니다.',
      ],
      action: '{brand} 방문하기',
    },
    de: {
      subject: '{brand}: {percent} des Budgets sind ausgegeben ({period})',
      heading: '{percent} des Budgets sind ausgegeben',
      paragraphs: [
        'Modelle und Anbieter kosten bisher {spent}. Das Budget ({period}, UTC) beträgt {budget}.',
        'Ein Budget begrenzt die Ausgaben nicht. Antworten, Bilder und Videos laufen weiter.',
      ],
      action: '{brand} besuchen',
    },
    es: {
      subject: '{brand}: se ha gastado el {percent} del presupuesto ({period})',
      heading: 'Se ha gastado el {percent} del presupuesto',
      paragraphs: [
        'Los modelos y proveedores han costado {spent} hasta ahora. Presupuesto ({period}, UTC): {budget}.',
        'Un presupuesto no limita el gasto. Las ejecuciones, las imágenes y los vídeos continúan.',
      ],
      action: 'Visitar {brand}',
    },
    fr: {
      subject: '{brand} : {percent} du budget sont dépensés ({period})',
      heading: '{percent} du budget sont dépensés',
      paragraphs: [
        'Les modèles et les fournisseurs ont coûté {spent} jusqu’ici. Budget ({period}, UTC) : {budget}.',
        'Un budget ne limite pas les dépenses. Les exécutions, les images et les vidéos continuent.',
      ],
      action: 'Visiter {brand}',
    },
    it: {
      subject: '{brand}: speso il {percent} del budget ({period})',
      heading: 'Speso il {percent} del budget',
      paragraphs: [
        'Finora modelli e fornitori sono costati {spent}. Budget ({period}, UTC): {budget}.',
        'Un budget non limita la spesa. Esecuzioni, immagini e video continuano.',
      ],
      action: 'Visita {brand}',
    },
    ms: {
      subject: '{brand}: {percent} daripada bajet {period} telah dibelanjakan',
      heading: '{percent} daripada bajet telah dibelanjakan',
      paragraphs: [
        'Kos model dan penyedia setakat ini ialah {spent}. Bajet untuk {period} (UTC) ialah {budget}.',
        'Bajet tidak mengehadkan perbelanjaan. Larian, imej dan video diteruskan.',
      ],
      action: 'Lawati {brand}',
    },
    pt: {
      subject: '{brand}: {percent} do orçamento foi gasto ({period})',
      heading: '{percent} do orçamento foi gasto',
      paragraphs: [
        'Modelos e provedores custaram {spent} até agora. Orçamento ({period}, UTC): {budget}.',
        'Um orçamento não limita os gastos. As execuções, imagens e vídeos continuam.',
      ],
      action: 'Visitar {brand}',
    },
    ru: {
      subject: '{brand}: израсходовано {percent} бюджета ({period})',
      heading: 'Израсходовано {percent} бюджета',
      paragraphs: [
        'Модели и провайдеры пока стоили {spent}. Бюджет ({period}, UTC): {budget}.',
        'Бюджет не ограничивает расходы. Ответы, изображения и видео создаются дальше.',
      ],
      action: 'Перейти на сайт',
    },
  },
});

function formatOf(language: ContentLanguage, options: Intl.NumberFormatOptions): (value: number) => string {
  const format = new Intl.NumberFormat(language.replace('_', '-'), options);
  return (value) => format.format(value);
}

function formatMonth(date: Date, language: ContentLanguage): string {
  const options = { year: 'numeric', month: 'long', timeZone: 'UTC' } as const;
  return new Intl.DateTimeFormat(language.replace('_', '-'), options).format(date);
}
