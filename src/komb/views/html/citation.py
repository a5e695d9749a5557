"""How to cite the paper."""

CITATION = (
    "Loong Kuan Lee, Ragavi Krishnamoorthy and Nico Piatkowski. High-Order Markov Blanket "
    "Discovery via a k-Order Relaxation of the Faithfulness Assumption. Conference on Uncertainty "
    "in Artificial Intelligence (UAI), 2026."
)
"""In words."""

BIBTEX = """@inproceedings{lee2026komb,
  author    = {Lee, Loong Kuan and Krishnamoorthy, Ragavi and Piatkowski, Nico},
  title     = {High-Order Markov Blanket Discovery via a k-Order Relaxation of the
               Faithfulness Assumption},
  booktitle = {Conference on Uncertainty in Artificial Intelligence (UAI)},
  year      = {2026},
}"""
"""For BibTeX."""
