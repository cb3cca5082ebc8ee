import { defineConfig } from 'vitepress'
import { dirname, join, normalize } from 'node:path/posix'
import sidebar from './sidebar.json' with { type: 'json' }

// A build by GitHub Actions knows where the repository is. Any other build shows the text of such a link without the link.
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, SITE_BASE } = process.env
const repository = GITHUB_REPOSITORY && `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`

/** Has links from a page to files outside docs/ lead to the repository. */
function linkTheRepository(md) {
  md.core.ruler.push('link-the-repository', ({ tokens, env }) => {
    for (const { children } of tokens) {
      let removed = false
      for (const token of children ?? []) {
        const path = token.type === 'link_open' && normalize(join('docs', dirname(env.relativePath), token.attrGet('href')))
        if (path && !token.attrGet('href').includes('://') && !path.startsWith('docs/')) {
          if (repository) {
            token.attrSet('href', `${repository}/blob/HEAD/${path}`)
          } else {
            removed = true
            token.type = 'text'
          }
        } else if (token.type === 'link_close' && removed) {
          removed = false
          token.type = 'text'
        }
      }
    }
  })
}

/** Has programs in Mermaid's language shown as diagrams, as forges do. */
function draw(md) {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, index, ...rest) => tokens[index].info.trim() === 'mermaid'
    ? `<Diagram text="${md.utils.escapeHtml(tokens[index].content)}" />`
    : fence(tokens, index, ...rest)
}

/** Anchors as forges make them, so that a link to a heading works in both places. LinksTest checks them. */
const slugify = heading => heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')

export default defineConfig({
  title: 'Berth',
  description: 'A model-serving container for SageMaker, written in Java',
  lang: 'en',
  base: SITE_BASE || '/',
  ignoreDeadLinks: 'localhostLinks',
  rewrites: { 'README.md': 'index.md', 'internals/README.md': 'internals/index.md' },
  // Braces stand for JSON here, as on a forge, and not for attributes.
  markdown: { attrs: { disable: true }, anchor: { slugify }, config: md => md.use(linkTheRepository).use(draw) },
  themeConfig: {
    sidebar,
    // tools/release/api makes these pages beside VitePress's own.
    nav: [{ text: 'API for hooks', link: '/api/index.html', target: '_self' }],
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: repository ? [{ icon: 'github', link: repository }] : []
  }
})
