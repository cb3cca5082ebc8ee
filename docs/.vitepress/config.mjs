import { withMermaid } from 'vitepress-plugin-mermaid'
import sidebar from './sidebar.json' with { type: 'json' }

// A build by GitHub Actions knows where the repository is. Any other build shows the text of such a link without the link.
const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, SITE_BASE } = process.env
const repository = GITHUB_REPOSITORY && `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`

/** Has links from a page to files outside docs/ lead to the repository. */
function linkTheRepository(md) {
  md.core.ruler.push('link-the-repository', ({ tokens }) => {
    for (const { children } of tokens) {
      let removed = false
      for (const token of children ?? []) {
        if (token.type === 'link_open' && token.attrGet('href').startsWith('../')) {
          if (repository) {
            token.attrSet('href', `${repository}/blob/HEAD/${token.attrGet('href').slice(3)}`)
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

/** Anchors as forges make them, so that a link to a heading works in both places. LinksTest checks them. */
const slugify = heading => heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')

export default withMermaid({
  title: 'Berth',
  description: 'A model-serving container for SageMaker, written in Java',
  lang: 'en',
  base: SITE_BASE || '/',
  // Room for the lines of programs and for tables of four columns.
  head: [['style', {}, '.VPDoc.has-aside .content-container { max-width: 960px !important }']],
  ignoreDeadLinks: 'localhostLinks',
  rewrites: { 'README.md': 'index.md' },
  // Braces stand for JSON here, as on a forge, and not for attributes.
  markdown: { attrs: { disable: true }, anchor: { slugify }, config: linkTheRepository },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: repository ? [{ icon: 'github', link: repository }] : []
  }
})
