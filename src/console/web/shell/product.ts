/** The name of the product: the title of the page as the server sends it (BRAND_NAME). */
export const product = globalThis.document?.title || 'Atelier';
